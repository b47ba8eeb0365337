package apitest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// inProcess is the door without a socket.
func inProcess(api *apitest.API) *door {
	return doorTo(api)
}

// names returns the names of the Leases in a list or a page of it, and its metadata.
func (d *door) names(t testing.TB, query string) (names []string, list meta.ListMeta) {
	t.Helper()
	a := d.do(t, "GET", leases+query, "")
	require.Equal(t, http.StatusOK, a.code, a)
	var l struct {
		Metadata meta.ListMeta
		Items    []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &l))
	for _, item := range l.Items {
		names = append(names, item.Metadata.Name)
	}
	return names, l.Metadata
}

func TestForksNeverSeeEachOthersWritesThroughAnyDoor(t *testing.T) {
	parent := apitest.New(t)
	d := inProcess(parent)
	d.create(t, "a")
	first, second := parent.Fork(t), parent.Fork(t)
	doors := map[string]*door{
		"transport": inProcess(first),
		"socket":    {API: first, client: http.DefaultClient, base: first.URL()},
	}
	want := []string{"a"}
	for _, name := range []string{"socket", "transport"} {
		doors[name].create(t, "of-"+strings.ToLower(name))
		want = append(want, "of-"+strings.ToLower(name))
	}
	d.create(t, "parents")
	grandchild := first.Fork(t)
	_, err := lease.In(first.Store()).Delete(t.Context(), "default", "a", store.DeleteOptions{})
	require.NoError(t, err)
	for _, row := range []struct {
		api  *apitest.API
		want []string
	}{
		{parent, []string{"a", "parents"}}, {first, want[1:]}, {second, []string{"a"}}, {grandchild, want},
	} {
		names, _ := inProcess(row.api).names(t, "")
		assert.Equal(t, row.want, names)
	}
	assert.NotEqual(t, parent.URL(), first.URL())
}

func TestForkHasNoFaultsAndRequestsOfItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := inProcess(apitest.New(t))
		d.create(t, "a")
		fault := d.Fault(apitest.Answer(503), apitest.Match{Verb: "get"})
		f := inProcess(d.Fork(t))
		assert.Empty(t, f.Faults())
		assert.Empty(t, f.Requests())
		assert.Equal(t, http.StatusOK, f.do(t, "GET", leasesA, "").code)
		assert.Zero(t, fault.Hits())
		f.Fault(apitest.Answer(503), apitest.Match{Verb: "list"})
		assert.Equal(t, http.StatusOK, d.do(t, "GET", leases, "").code)
		assert.Equal(t, http.StatusServiceUnavailable, d.do(t, "GET", leasesA, "").code)
		f.Requests().Assert(t, "get leases default/a 200")
		assert.Len(t, d.Requests(), 3)
	})
}

func TestForkHasTheOptionsOfItsParent(t *testing.T) {
	k := store.MustKind(kind.Descriptor[*widget]{Resource: kind.Resource{Group: "example.com", Kind: "Widget", Plural: "widgets"}, Versions: []kind.Version[*widget]{{Name: "v1"}}})
	through := 0
	parent := apitest.New(t, apitest.Options{
		API: httpapi.Options{
			Kinds:        []kind.Kind{k},
			Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"s3cret": {Name: "alice"}}),
			Middleware: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					through++
					next.ServeHTTP(w, r)
				})
			},
		},
	})
	const widgets = "/apis/example.com/v1/namespaces/default/widgets"
	f := inProcess(parent.Fork(t).Fork(t))
	assert.Equal(t, http.StatusUnauthorized, f.do(t, "GET", widgets, "").code)
	assert.Equal(t, http.StatusCreated, f.do(t, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`, "Authorization", "Bearer s3cret").code)
	assert.Equal(t, 2, through)
	assert.Len(t, f.Requests(), 2)
	hit := f.Fault(apitest.Answer(503), apitest.Match{Resource: "widgets"})
	assert.Equal(t, http.StatusServiceUnavailable, f.do(t, "GET", widgets, "").code)
	assert.Equal(t, 1, hit.Hits())
	assert.Equal(t, 2, through, "the faults come first")
	assert.Contains(t, f.Dump(fixture.DumpOptions{}), "kind: Widget")
	assert.NotContains(t, parent.Dump(fixture.DumpOptions{}), "kind: Widget")
}

// widget is a kind of a user.
type widget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
}

func TestForkOfAnAPIWhoseTestHasEndedFailsTheTest(t *testing.T) {
	var api *apitest.API
	t.Run("a test", func(t *testing.T) { api = apitest.New(t) })
	message := failure(t, func(t testing.TB) { api.Fork(t) })
	assert.Equal(t, "apitest.Fork: the API has ended: store.Fork: got a store that was closed, want one that is open: store: closed", message)
}

func TestForkEndsWithItsOwnTest(t *testing.T) {
	ofParent, ofFork := &ending{TB: t}, &ending{TB: t}
	parent := apitest.New(ofParent)
	inProcess(parent).create(t, "a")
	fork, ended := parent.Fork(t), parent.Fork(ofFork)
	ofFork.end()
	_, err := ended.Store().Fork()
	assert.ErrorIs(t, err, store.ErrClosed)
	assert.Equal(t, http.StatusOK, inProcess(parent).do(t, "GET", leasesA, "").code, "the end of a fork")
	ofParent.end()
	assert.Error(t, inProcess(parent).do(t, "GET", leasesA, "").err)
	assert.Equal(t, http.StatusOK, inProcess(fork).do(t, "GET", leasesA, "").code, "the end of its parent")
	inProcess(fork).create(t, "b")
}

// A Lease written before the fork runs on from the moment of the fork, although the clock of the bubble shows another time.
func TestVerifyOfAForkInABubbleCountsFromTheFork(t *testing.T) {
	hold := func(t *testing.T, api *apitest.API, who string) {
		_, err := lease.In(api.Store()).Modify(t.Context(), "default", "leader", func(l *lease.Lease) error {
			l.Spec = lease.LeaseSpec{HolderIdentity: &who, LeaseDurationSeconds: new(int32(15)), RenewTime: new(meta.NewMicroTime(time.Now()))}
			return nil
		}, store.UpdateOptions{})
		require.NoError(t, err)
	}
	shared := apitest.New(t)
	_, err := lease.In(shared.Store()).Create(t.Context(), leaseOf("leader"), storeOptions)
	require.NoError(t, err)
	hold(t, shared, "before")
	for _, row := range []struct {
		name   string
		waited time.Duration
		want   bool
	}{{"taken when it has run out", 16 * time.Second, true}, {"taken too early", 14 * time.Second, false}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := shared.Fork(t)
				time.Sleep(row.waited - 5*time.Second)
				api = api.Fork(t)
				time.Sleep(5 * time.Second)
				hold(t, api, "after")
				var v verdict
				assert.Equal(t, row.want, api.Verify(&v), v.errors)
			})
		})
	}
	assert.True(t, shared.Verify(t))
}
