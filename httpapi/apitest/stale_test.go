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

func TestContradictoryStaleFaultsAreRefused(t *testing.T) {
	for want, o := range map[string]apitest.StaleOptions{
		`Stale.SkipMissed: got it with Changes or Age, want a replica that stops`:                    {SkipMissed: true, Changes: 1},
		`Stale.ResourceVersion, Changes, Age: got 2 of them, want one at most`:                       {ResourceVersion: "1", Age: 1},
		`Stale.ResourceVersion: got "0", want a positive number`:                                     {ResourceVersion: "0"},
		`Stale.ResourceVersion: got "new", want a positive number`:                                   {ResourceVersion: "new"},
		`Stale.Changes: got -1, want 0 or more`:                                                      {Changes: -1},
		`Stale.Age: got -1ns, want 0 or more`:                                                        {Age: -1},
		`Stale.Namespace, Name: got them with SkipMissed, Changes or Age, want a replica that stops`: {Name: "a", Changes: 1},
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
		"stale (stopped)":                               {},
		"stale (stopped, every read)":                   {EveryRead: true},
		"stale (at version 1001)":                       {ResourceVersion: "1001"},
		"stale (3 changes behind)":                      {Changes: 3},
		"stale (2s behind)":                             {Age: 2 * time.Second},
		"stale (stopped, skip missed)":                  {SkipMissed: true},
		"stale (stopped, only default/a, no WatchList)": {Namespace: "default", Name: "a", NoWatchList: true},
	} {
		assert.Equal(t, "list leases *: "+want, d.Fault(apitest.Stale(s), apitest.Match{Verb: "list", Resource: "leases"}).String())
	}
}

func TestReplicaAheadOfTheStoreIsTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		d.Fault(apitest.Stale(apitest.StaleOptions{ResourceVersion: "5000"}))
		d.create(t, "b")
		assert.Equal(t, "1001: a", names(t, d.do(t, "GET", leases+anyState, "")))
	})
}

func TestStaleReadsOfOneObject(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		d.create(t, "a")
		f := d.Fault(apitest.Stale(apitest.StaleOptions{Name: "a"}))
		d.do(t, "DELETE", leasesA, "")
		d.create(t, "b")
		assert.Equal(t, "1003: a b", names(t, d.do(t, "GET", leases+anyState, "")))
		assert.Equal(t, "1003: b", names(t, d.do(t, "GET", leases, "")), "a consistent list")
		assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesA+anyState, "").code)
		w := d.watch(t, leases+anyState+"&watch=true")
		assert.Equal(t, "ADDED a", w.next())
		assert.Equal(t, "ADDED b", w.next())
		d.create(t, "c")
		assert.Equal(t, "ADDED c", w.next())
		assert.Equal(t, 3, f.Hits())
		f.Remove()
		assert.Equal(t, "DELETED a", w.next())
		assert.Equal(t, http.StatusNotFound, d.do(t, "GET", leasesA+anyState, "").code)
	})
}

func TestReplicaWithoutWatchListRefusesInitialEvents(t *testing.T) {
	const initial = leases + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.create(t, "a")
		f := d.Fault(apitest.Stale(apitest.StaleOptions{NoWatchList: true}))
		d.create(t, "b")
		refused := d.do(t, "GET", initial, "")
		assert.Equal(t, http.StatusUnprocessableEntity, refused.code)
		assert.Contains(t, refused.body, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
		w := d.watch(t, leases+"?watch=true")
		assert.Equal(t, "ADDED a", w.next())
		f.Remove()
		assert.Equal(t, "ADDED b", w.next())
		assert.Equal(t, "ADDED a", d.watch(t, initial).next())
	})
}
