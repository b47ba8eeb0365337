package consistency

import (
	"net/http"
	"sync"
	"testing"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

// recordedChanges is how many changes the store records. Report is incomplete after more.
const recordedChanges = 100_000

// API is a server whose answers are recorded.
type API struct {
	*apitest.API
	rec   *recorder
	kinds []store.AnyKind
	made  *recorders
}

// recorders makes a recorder for each world, the first one and its forks.
type recorders struct {
	inner func(http.Handler) http.Handler
	mu    sync.Mutex // guards last, and is held while a world is made
	last  *recorder
}

func (m *recorders) middleware(next http.Handler) http.Handler {
	if m.inner != nil {
		next = m.inner(next)
	}
	m.last = &recorder{next: next}
	return m.last
}

// New returns a server that is closed at the end of the test. A middleware in opts is checked as a part of the server.
func New(t testing.TB, opts apitest.Options) *API {
	t.Helper()
	m := &recorders{inner: opts.API.Middleware}
	opts.API.Middleware = m.middleware
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.world(apitest.New(t, opts), append(httpapi.Kinds(), opts.API.Kinds...))
}

// Checked returns a server like New, and calls Check at the end of the test.
func Checked(t testing.TB, opts apitest.Options) *API {
	t.Helper()
	var a *API
	t.Cleanup(func() { // runs after the server has been closed
		if a != nil {
			a.Check(t)
		}
	})
	a = New(t, opts)
	return a
}

// Fork returns a fork of the server, as apitest's Fork does, with a record of its own.
func (a *API) Fork(t testing.TB) *API {
	t.Helper()
	a.made.mu.Lock()
	defer a.made.mu.Unlock()
	return a.made.world(a.API.Fork(t), a.kinds)
}

// world adds the recorder that was made last to an API.
func (m *recorders) world(api *apitest.API, kinds []store.AnyKind) *API {
	m.last.st, m.last.kinds = (*registry.Store)(api.Store()), kinds
	m.last.st.Record(recordedChanges)
	return &API{API: api, rec: m.last, kinds: kinds, made: m}
}

// Check fails the test for each finding of Report.
func (a *API) Check(t testing.TB) {
	t.Helper()
	r := a.Report()
	if !r.Complete {
		t.Errorf("consistency: got more changes than the store records, want all of them: see registry.Store.Record")
	}
	for _, f := range r.Findings {
		t.Errorf("consistency: %s", f)
	}
}
