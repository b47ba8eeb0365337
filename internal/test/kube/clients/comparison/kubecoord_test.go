package comparison

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/stretchr/testify/require"
)

// server is kubecoord.
type server struct {
	door
	t       testing.TB
	connect func(*rest.Config) door
	api     *apitest.API
	wire    *recorder
	canned  http.HandlerFunc // answers gets of Leases instead of the API, unless nil
}

// kubecoord returns a server with client-go's real clients.
func kubecoord(t testing.TB) subject {
	return newServer(t, func(config *rest.Config) door { return realClientGoDoor(t, config) })
}

// kubecoordByRuntime returns a server with controller-runtime's real client.
func kubecoordByRuntime(t testing.TB) subject {
	return newServer(t, func(config *rest.Config) door { return realRuntimeDoor(t, config) })
}

func newServer(t testing.TB, connect func(*rest.Config) door) *server {
	s := &server{t: t, connect: connect}
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	s.api = apitest.New(t, apitest.Options{API: httpapi.Options{
		Kinds: append(kinds, servedWidgets()), Middleware: s.middleware,
	}})
	s.wire = &recorder{next: s.api.Transport()}
	s.door = connect(s.config())
	return s
}

func (s *server) fork(t testing.TB) subject {
	f := &server{t: t, connect: s.connect, api: s.api.Fork(t)}
	f.wire = &recorder{next: f.api.Transport()}
	f.door = f.connect(f.config())
	return f
}

func (s *server) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.canned != nil && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/leases/") {
			s.canned(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) config() *rest.Config {
	return &rest.Config{Host: s.api.Host(), Transport: s.wire, QPS: -1, WarningHandler: rest.NoWarnings{}}
}

func (s *server) url() string        { return s.api.URL() }
func (s *server) warnings() []string { return s.wire.heard() }
func (s *server) expire()            { s.api.Store().ExpireHistory() }

func (s *server) load(yaml string) {
	require.NoError(s.t, s.api.Handler().Load(s.t.Context(), fixture.Stream("state.yaml", strings.NewReader(yaml))))
}

func (s *server) dump() string { return s.api.Dump(fixture.DumpOptions{}) }

func (s *server) verdict() string {
	l := &listener{TB: s.t}
	s.api.Verify(l)
	return l.said.String()
}

// listener is a testing.TB that records errors.
type listener struct {
	testing.TB
	said strings.Builder
}

// Errorf keeps a message.
func (l *listener) Errorf(format string, args ...any) { fmt.Fprintf(&l.said, format, args...) }

func (s *server) requests() []string {
	var out []string
	for _, r := range s.api.Requests() {
		out = append(out, r.Verb+" "+r.Resource)
	}
	return out
}

func (s *server) fail(verb string, status metav1.Status) string {
	s.api.Fault(apitest.AnswerStatus(meta.Status{Code: status.Code, Reason: meta.Reason(status.Reason)}), apitest.Match{Verb: verb})
	return ""
}

func (s *server) loseAnswer(verb string) string {
	s.api.Fault(apitest.CutAfter(), apitest.Match{Verb: verb})
	return ""
}

func (s *server) hang(verb string) string {
	s.api.Fault(apitest.Hang(), apitest.Match{Verb: verb})
	return ""
}

func (s *server) can(l *coordinationv1.Lease) string {
	s.canned = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(l)
	}
	return ""
}

func (s *server) end() string {
	s.api.Fault(apitest.EndWatch(0), apitest.Match{Verb: "watch"})
	return ""
}

// recorder is an http.RoundTripper that records the warnings in answers.
type recorder struct {
	next http.RoundTripper

	mu       sync.Mutex // guards all below
	warnings []string
}

// RoundTrip passes a request on.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.warnings = append(r.warnings, resp.Header.Values("Warning")...)
	}
	return resp, err
}

func (r *recorder) heard() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.warnings)
}
