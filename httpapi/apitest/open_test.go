package apitest_test

import (
	"errors"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

const leaseYAML = `apiVersion: v1
items:
- apiVersion: coordination.k8s.io/v1
  kind: Lease
  metadata:
    name: a
    namespace: default
  spec:
    holderIdentity: me
kind: List
metadata:
  resourceVersion: ""
`

func someFixture() fixture.Source { return fixture.Stream("a.yaml", strings.NewReader(leaseYAML)) }

func TestServerWithoutATestLastsUntilItIsClosed(t *testing.T) {
	before := sockets()
	api, err := apitest.Open(apitest.Options{Fixtures: []fixture.Source{someFixture()}})
	require.NoError(t, err)
	d := &door{API: api, client: &http.Client{Transport: &http.Transport{}}, base: api.URL(), socket: true}
	assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesA, "").code)
	files := []string{api.Kubeconfig(), api.Kubeconfig()}
	f := api.Fault(apitest.Fault{Verb: "get", Answer: apitest.Conflict()})
	assert.Equal(t, http.StatusConflict, d.do(t, "GET", leasesA, "").code)
	assert.Equal(t, 1, f.Hits())
	w := d.watch(t, leases+"?watch=true")
	assert.Equal(t, "ADDED a", w.next())

	api.Close()
	api.Close()
	assert.Contains(t, w.next(), "0 bytes, ")
	assert.Error(t, d.do(t, "GET", leasesA, "").err)
	assert.Len(t, api.Requests(), 3, "they may be looked at afterwards")
	for _, file := range files {
		_, err := os.Stat(file)
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
	for sockets() > before {
		runtime.Gosched() // clients see a moment later that their connections are closed
	}
	assert.PanicsWithValue(t, "apitest: the API that Open returned has ended: got a call for a socket, want it before the end", func() { api.TLSURL() })
	assert.PanicsWithValue(t, "apitest: the API that Open returned has ended: got a call for a folder, want it before the end", func() { api.Kubeconfig() })
}

func TestServerWithoutATestTellsWhatIsWrong(t *testing.T) {
	for want, opts := range map[string]apitest.Options{
		"apitest.Open: Options.Verify: got true, want false: there is no test to fail": {Verify: true},
		`apitest.Open: Options.Fixtures: bad.yaml, document 1 (line 1): Lease: unknown field "color"`: {
			Fixtures: []fixture.Source{someFixture(), fixture.Stream("bad.yaml", strings.NewReader("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a, namespace: b}\ncolor: red\n"))},
		},
		"apitest.Open: Options: got Elector and API.Elector, want one of them": {
			Elector: elector, API: httpapi.Options{Elector: &candidate.Elector{}},
		},
		"apitest.Open: Options.Elector: nobody votes": {
			Elector: func(*store.Store) (*candidate.Elector, error) { return nil, errors.New("nobody votes") },
		},
	} {
		_, err := apitest.Open(opts)
		assert.EqualError(t, err, want)
	}
	api, err := apitest.Open(apitest.Options{})
	require.NoError(t, err)
	defer api.Close()
	for want, f := range map[string]apitest.Fault{
		"apitest.Fault: got nothing to do, want one of Delay, ExpireHistory, Answer, Hang, Cut, Partition, Tear, SlowEvents, Stale": {},
		`apitest.Fault: Resource: got "pods", want one of leases, leasecandidates, endpoints`:                                       {Resource: "pods", Hang: true},
	} {
		_, err := api.Inject(f)
		assert.EqualError(t, err, want)
		assert.PanicsWithValue(t, want, func() { api.Fault(f) })
	}
	_, err = api.InjectAdversary(apitest.Adversary{Percent: 101})
	assert.EqualError(t, err, "apitest.Adversary: Percent: got 101, want 0 to 100")
	assert.Empty(t, api.Faults())
	in, err := api.InjectAdversary(apitest.Adversary{Seed: 42})
	require.NoError(t, err)
	assert.Equal(t, "any *: adversary, 10%, seed 42", in.String())
	assert.Equal(t, []*apitest.Injected{in}, api.Faults())
}

func TestFixturesAreThereFromTheBeginning(t *testing.T) {
	api := apitest.New(t, apitest.Options{Fixtures: []fixture.Source{someFixture()}})
	assert.Equal(t, leaseYAML, api.Dump(fixture.DumpOptions{OmitServerFields: true}))
	message := failure(t, func(t testing.TB) {
		apitest.New(t, apitest.Options{Fixtures: []fixture.Source{fixture.Dir("none")}})
	})
	assert.Equal(t, "apitest.New: Options.Fixtures: fixture: stat none: no such file or directory", message)
}

func TestServerBeginsAsAForkOfAStore(t *testing.T) {
	first := apitest.New(t, apitest.Options{Fixtures: []fixture.Source{someFixture()}})
	second := apitest.New(t, apitest.Options{From: first.Store()})
	d := doorTo(second)
	assert.Equal(t, http.StatusOK, d.do(t, "DELETE", leasesA, "").code)
	_, err := lease.In(first.Store()).Get(t.Context(), "default", "a")
	assert.NoError(t, err)

	first.Close()
	message := failure(t, func(t testing.TB) { apitest.New(t, apitest.Options{From: first.Store()}) })
	assert.Equal(t, "apitest.New: Options.From: store.Fork: got a store that was closed, want one that is open: store: closed", message)
}

func TestFixtureThatCannotBeFailsTheTest(t *testing.T) {
	api := apitest.New(t)
	api.Load(someFixture())
	_, err := lease.In(api.Store()).Get(t.Context(), "default", "a")
	require.NoError(t, err)
	message := failure(t, func(t testing.TB) { apitest.New(t).Load(someFixture(), someFixture()) })
	assert.Contains(t, message, "apitest.Load: a.yaml, document 1 (line 3), item 1: ")
}

func elector(st *store.Store) (*candidate.Elector, error) {
	return candidate.NewElector(st, candidate.ElectorOptions{})
}

func TestElectorOfATestElectsAmongItsCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Options{Elector: elector})
		d := doorTo(api)
		a := d.do(t, "POST", "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates",
			`{"metadata":{"name":"me"},"spec":{"leaseName":"a","binaryVersion":"1.37.0","emulationVersion":"1.37.0","strategy":"OldestEmulationVersion","renewTime":"2000-01-01T00:00:00.000000Z"}}`)
		require.Equal(t, http.StatusCreated, a.code, a)
		time.Sleep(time.Second)
		l, err := lease.In(api.Store()).Get(t.Context(), "default", "a")
		require.NoError(t, err)
		assert.Equal(t, "me", *l.Spec.HolderIdentity)
	})
}
