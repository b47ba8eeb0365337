package apitest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
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

func TestCloseEndsTheServerAndKeepsWhatItSaw(t *testing.T) {
	api := apitest.New(t, apitest.Options{Fixtures: []fixture.Source{someFixture()}})
	d := &door{API: api, client: &http.Client{Transport: &http.Transport{}}, base: api.URL(), socket: true}
	assert.Equal(t, http.StatusOK, d.do(t, "GET", leasesA, "").code)
	w := d.watch(t, leases+"?watch=true")
	assert.Equal(t, "ADDED a", w.next())

	api.Close()
	api.Close()
	assert.Contains(t, w.next(), "0 bytes, ")
	assert.Error(t, d.do(t, "GET", leasesA, "").err)
	assert.Len(t, api.Requests(), 2)
	assert.Contains(t, api.Dump(fixture.DumpOptions{}), "name: a")
}

func TestCloseWaitsForRequestsAndCutsLaterOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		d := newDoor(t, apitest.Options{API: httpapi.Options{Middleware: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r)
				time.Sleep(time.Second)
				ended = true
			})
		}}})
		go d.do(t, "GET", leasesA, "")
		synctest.Wait()
		d.Close()
		assert.True(t, ended)
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
			d.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", leasesA, nil))
		})
		assert.Len(t, d.Requests(), 1)
	})
}

// program is a TB whose Fatalf returns, like the TB of package httpapi/debug.
type program struct {
	testing.TB
	failures []string
}

func (p *program) Fatalf(format string, args ...any) {
	p.failures = append(p.failures, fmt.Sprintf(format, args...))
}

func TestMethodsReturnIfFatalfDoes(t *testing.T) {
	p := &program{TB: t}
	assert.Nil(t, apitest.New(p, apitest.Options{}, apitest.Options{}))
	assert.Nil(t, apitest.New(p, apitest.Options{Fixtures: []fixture.Source{fixture.FS(os.DirFS("none"))}}))
	api := apitest.New(p)
	assert.Nil(t, api.Fault(apitest.Effect{}))
	assert.Empty(t, api.Faults())
	api.FastForward(time.Hour)
	api.Close()
	assert.Nil(t, api.Fork(p))
	assert.Empty(t, api.URL())
	assert.Empty(t, api.CA())
	assert.Empty(t, api.Kubeconfig())
	assert.Len(t, p.failures, 8)
}

func TestFixturesNameWhatIsWrong(t *testing.T) {
	bad := fixture.Stream("bad.yaml", strings.NewReader("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a, namespace: b}\ncolor: red\n"))
	message := failure(t, func(t testing.TB) {
		apitest.New(t, apitest.Options{Fixtures: []fixture.Source{someFixture(), bad}})
	})
	assert.Equal(t, `apitest.New: Options.Fixtures: bad.yaml, document 1 (line 1): Lease: unknown field "color"`, message)
}

func TestServerOverAStore(t *testing.T) {
	st := store.New(store.Options{FirstResourceVersion: 5000})
	_, err := lease.In(st).Create(t.Context(), leaseOf("a"), storeOptions)
	require.NoError(t, err)
	api := apitest.New(t, apitest.Options{Over: st})
	assert.Same(t, st, api.Store())
	assert.Equal(t, http.StatusOK, doorTo(api).do(t, "GET", leasesA, "").code)
	api.Close()
	_, err = st.Fork()
	assert.ErrorIs(t, err, store.ErrClosed, "the store ends with the API")
}

func TestCoordinatorOfATestElectsAmongItsCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Options{API: httpapi.Options{Parts: []httpapi.Part{httpapi.Elect(candidate.CoordinatorOptions{})}}})
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
