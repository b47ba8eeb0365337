package apitest_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// anyState is a query that accepts any state.
const anyState = "?resourceVersion=0"

// names returns the version of a list and the names in it, such as "1002: a b", or the message of a Status.
func names(t testing.TB, a answer) string {
	t.Helper()
	require.NoError(t, a.err)
	var list struct {
		Message  string
		Metadata struct{ ResourceVersion string }
		Items    []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &list), a.body)
	if a.code != http.StatusOK {
		return list.Message
	}
	out := list.Metadata.ResourceVersion + ":"
	for _, it := range list.Items {
		out += " " + it.Metadata.Name
	}
	return out
}

// hold sets the holder of the Lease a through the store.
func (d *door) hold(t testing.TB, holder string) {
	t.Helper()
	_, err := lease.In(d.Store()).Modify(t.Context(), "default", "a", func(l *lease.Lease) error {
		l.Spec.HolderIdentity = &holder
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
}

// holder returns the holder of the Lease a in the answer to a get with a query.
func (d *door) holder(t testing.TB, query string) string {
	t.Helper()
	var l lease.Lease
	a := d.do(t, "GET", leasesA+query, "")
	require.Equal(t, http.StatusOK, a.code, a)
	require.NoError(t, json.Unmarshal([]byte(a.body), &l))
	return *l.Spec.HolderIdentity
}

func TestOneClientReadsFromALaggingReplica(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		d.create(t, "a")
		f := d.Fault(apitest.Stale(apitest.StaleOptions{}), apitest.Match{UserAgent: "lagging"})
		d.create(t, "b")
		ask := func(agent, target string) answer { return d.do(t, "GET", target, "", "User-Agent", agent) }
		assert.Equal(t, "1001: a", names(t, ask("lagging", leases+anyState)))
		assert.Equal(t, http.StatusNotFound, ask("lagging", leases+"/b"+anyState).code)
		w := d.watch(t, leases+anyState+"&watch=true", "User-Agent", "lagging")
		assert.Equal(t, "ADDED a", w.next())
		assert.Equal(t, "1002: a b", names(t, ask("another", leases+anyState)))
		assert.Equal(t, http.StatusOK, ask("another", leases+"/b"+anyState).code)
		assert.Equal(t, 3, f.Hits())

		assert.Equal(t, http.StatusOK, ask("lagging", leases+"/b").code)
		assert.Equal(t, http.StatusOK, ask("lagging", "/version"+anyState).code)
		assert.Equal(t, http.StatusCreated, d.do(t, "POST", leases, leaseNamed("c"), "User-Agent", "lagging").code)
		assert.Equal(t, 3, f.Hits(), "consistent reads are not hit")

		f.Remove()
		assert.Equal(t, "ADDED b", w.next())
		assert.Equal(t, "ADDED c", w.next())
		assert.Equal(t, "1003: a b c", names(t, ask("lagging", leases+anyState)))
		f.Remove()
		assert.Equal(t, 3, f.Hits())
	})
}

func TestEveryKindAndFormIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		const candidates = "/apis/coordination.k8s.io/v1alpha2/namespaces/default/leasecandidates"
		f := d.Fault(apitest.Stale(apitest.StaleOptions{}), apitest.Match{Verb: "list"})
		d.create(t, "a")
		for _, r := range []struct{ target, body string }{
			{"/api/v1/namespaces/default/endpoints", leaseNamed("a")},
			{candidates, `{"metadata":{"name":"a"},"spec":{"leaseName":"l","binaryVersion":"1.30.0","strategy":"OldestEmulationVersion","emulationVersion":"1.30.0"}}`},
		} {
			a := d.do(t, "POST", r.target, r.body)
			require.Equal(t, http.StatusCreated, a.code, a)
		}
		n := 0
		for _, target := range []string{leases, "/apis/coordination.k8s.io/v1/leases", candidates, "/api/v1/namespaces/default/endpoints", "/api/v1/endpoints"} {
			for _, accept := range []string{"application/json", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"} {
				a := d.do(t, "GET", target+anyState, "", "Accept", accept)
				assert.Equal(t, http.StatusOK, a.code)
				assert.Contains(t, a.body, `"resourceVersion":"1000"`)
				assert.NotContains(t, a.body, `"name":"a"`, "%s %s", target, accept)
				n++
			}
		}
		assert.Equal(t, n, f.Hits())
	})
}

func TestStaleReadsFollowTheRulesOfTheAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		d.Fault(apitest.Stale(apitest.StaleOptions{}))
		d.create(t, "b")
		start := time.Now()
		a := d.do(t, "GET", leases+"?resourceVersion=1002", "")
		assert.Equal(t, "Timeout: Too large resource version: 1002, current: 1001", names(t, a))
		assert.Equal(t, http.StatusGatewayTimeout, a.code)
		assert.Equal(t, "1", a.header.Get("Retry-After"))
		assert.Equal(t, 3*time.Second, time.Since(start))
		assert.Equal(t, "1002: a b", names(t, d.do(t, "GET", leases, "")))
		assert.Equal(t, 6*time.Second, time.Since(start), "a list that must be true is waited for")
		w := d.watch(t, leases+"?watch=true")
		assert.Equal(t, "ERROR 504", w.next())
		assert.Equal(t, 9*time.Second, time.Since(start))
		w = d.watch(t, leases+"?watch=true&resourceVersion=0&allowWatchBookmarks=true")
		assert.Equal(t, []string{"ADDED a", "BOOKMARK "}, []string{w.next(), w.next()}, "the end of the state")
	})
}

func TestUpdateOfAStaleReadIsAConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		d.hold(t, "x")
		d.Fault(apitest.Stale(apitest.StaleOptions{}))
		d.hold(t, "y")
		assert.Equal(t, "x", d.holder(t, anyState))
		body := d.do(t, "GET", leasesA+anyState, "").body
		assert.Equal(t, http.StatusConflict, d.do(t, "PUT", leasesA, body).code)
		assert.Equal(t, http.StatusOK, d.do(t, "PUT", leasesA, d.do(t, "GET", leasesA, "").body).code)
	})
}

func TestReplicaLagsByItsOptions(t *testing.T) {
	for name, row := range map[string]struct {
		stale apitest.StaleOptions
		want  []string // the holder after each of three updates, a second apart
	}{
		"now":            {apitest.StaleOptions{}, []string{"-", "-", "-"}},
		"long ago":       {apitest.StaleOptions{ResourceVersion: "1001"}, []string{"", "", ""}},
		"two behind":     {apitest.StaleOptions{Changes: 2}, []string{"", "-", "1"}},
		"a while behind": {apitest.StaleOptions{Age: 1500 * time.Millisecond}, []string{"", "-", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDoor(t)
				_, err := lease.In(d.Store()).Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}, Spec: lease.LeaseSpec{HolderIdentity: new("")}}, store.CreateOptions{})
				require.NoError(t, err)
				time.Sleep(time.Second)
				d.hold(t, "-")
				time.Sleep(time.Second)
				f := d.Fault(apitest.Stale(row.stale))
				for i, want := range row.want {
					d.hold(t, string(rune('1'+i)))
					assert.Equal(t, want, d.holder(t, anyState), "after %d", i+1)
					time.Sleep(time.Second)
				}
				f.Remove()
				assert.Equal(t, "3", d.holder(t, anyState))
				assert.Equal(t, 3, f.Hits())
			})
		})
	}
}

func TestUnobservedStatesAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		f := d.Fault(apitest.Stale(apitest.StaleOptions{SkipMissed: true}))
		w := d.watch(t, leases+"?watch=true&resourceVersion=0")
		assert.Equal(t, "ADDED a", w.next())
		d.create(t, "b")
		require.Equal(t, http.StatusOK, d.do(t, "DELETE", leases+"/b", "").code)
		f.Remove()
		assert.Equal(t, "ERROR 410", w.next())
		assert.Equal(t, "0 bytes, EOF", w.next())
		assert.Equal(t, "1003: a", names(t, d.do(t, "GET", leases+anyState, "")))
	})
}

func TestReadsAgainstTheRulesAreStaleToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		d.hold(t, "x")
		f := d.Fault(apitest.Stale(apitest.StaleOptions{EveryRead: true}))
		d.hold(t, "y")
		d.create(t, "b")
		start := time.Now()
		assert.Equal(t, "x", d.holder(t, ""))
		assert.Equal(t, "1002: a", names(t, d.do(t, "GET", leases, "")))
		assert.Equal(t, "ADDED a", d.watch(t, leases+"?watch=true").next())
		assert.Equal(t, 3, f.Hits())
		assert.Zero(t, time.Since(start))
	})
}

func TestFirstOfSeveralReplicasAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		first := d.Fault(apitest.Stale(apitest.StaleOptions{}).First(1))
		d.create(t, "a")
		second := d.Fault(apitest.Stale(apitest.StaleOptions{}))
		d.create(t, "b")
		for _, want := range []string{"1000:", "1001: a", "1001: a"} {
			assert.Equal(t, want, names(t, d.do(t, "GET", leases+anyState, "")))
		}
		assert.Equal(t, []int{1, 2}, []int{first.Hits(), second.Hits()})
	})
}

func TestContradictoryStaleFaultsAreRefused(t *testing.T) {
	for want, o := range map[string]apitest.StaleOptions{
		`Stale.SkipMissed: got it with Changes or Age, want a replica that stops`: {SkipMissed: true, Changes: 1},
		`Stale.ResourceVersion, Changes, Age: got 2 of them, want one at most`:    {ResourceVersion: "1", Age: 1},
		`Stale.ResourceVersion: got "0", want a positive number`:                  {ResourceVersion: "0"},
		`Stale.ResourceVersion: got "new", want a positive number`:                {ResourceVersion: "new"},
		`Stale.Changes: got -1, want 0 or more`:                                   {Changes: -1},
		`Stale.Age: got -1ns, want 0 or more`:                                     {Age: -1},
	} {
		t.Run(want, func(t *testing.T) {
			assert.Equal(t, "apitest.Fault: "+want, failure(t, func(t testing.TB) { apitest.New(t).Fault(apitest.Stale(o)) }))
		})
	}
}

func TestInvalidReplicasAreRefused(t *testing.T) {
	d := newDoor(t)
	d.create(t, "a")
	d.Store().ExpireHistory()
	for want, s := range map[string]apitest.StaleOptions{
		`Stale.ResourceVersion: got 1002, want 1001 at most, the version that the store is at`:    {ResourceVersion: "1002"},
		`Stale.ResourceVersion: got 1000, want 1001 or more: history does not reach back further`: {ResourceVersion: "1000"},
	} {
		message := failure(t, func(t testing.TB) {
			apitest.New(t, apitest.Options{Over: d.Store()}).Fault(apitest.Stale(s))
		})
		assert.Equal(t, "apitest.Fault: "+want, message)
	}
}

func TestStaleFaultsDescribeTheirReplica(t *testing.T) {
	d := newDoor(t)
	d.create(t, "a")
	for want, s := range map[string]apitest.StaleOptions{
		"stale (stopped)":              {},
		"stale (stopped, every read)":  {EveryRead: true},
		"stale (at version 1001)":      {ResourceVersion: "1001"},
		"stale (3 changes behind)":     {Changes: 3},
		"stale (2s behind)":            {Age: 2 * time.Second},
		"stale (stopped, skip missed)": {SkipMissed: true},
	} {
		assert.Equal(t, "list leases *: "+want, d.Fault(apitest.Stale(s), apitest.Match{Verb: "list", Resource: "leases"}).String())
	}
}
