package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

const (
	leases     = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	allLeases  = "/apis/coordination.k8s.io/v1/leases"
	candidates = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates"
	endpoints  = "/api/v1/namespaces/default/endpoints"

	typeJSON     = "application/json"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
)

// server is an API over a store of its own, reached without a socket.
type server struct {
	st  *store.Store
	api *httpapi.API
}

// newServer returns a server that ends with the test.
func newServer(t testing.TB) *server {
	t.Helper()
	return newServerWith(t, store.Options{}, httpapi.Options{})
}

func newServerWith(t testing.TB, storeOptions store.Options, options httpapi.Options) *server {
	t.Helper()
	st := store.New(storeOptions)
	s := &server{st: st, api: httpapi.New(st, options)}
	t.Cleanup(func() {
		s.api.Close()
		st.Close()
	})
	return s
}

// version returns the version of the last change.
func (s *server) version() uint64 { return (*registry.Store)(s.st).ResourceVersion() }

// newRequest returns a request with JSON in its body, if it has one. Headers come in pairs; "-" removes one.
func newRequest(t testing.TB, method, target, body string, headers ...string) *http.Request {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://test"+target, r)
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", typeJSON)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "-" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

// answer is an answer that was read to its end.
type answer struct {
	Code   int
	Header http.Header
	Body   string
}

// send sends a request and reads the whole answer.
func (s *server) send(t testing.TB, req *http.Request) answer {
	t.Helper()
	resp, err := s.api.Transport().RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// do sends a request made of its parts.
func (s *server) do(t testing.TB, method, target, body string, headers ...string) answer {
	t.Helper()
	return s.send(t, newRequest(t, method, target, body, headers...))
}

// must sends a request that has to succeed, and returns the answer as a tree.
func (s *server) must(t testing.TB, method, target, body string, headers ...string) tree {
	t.Helper()
	a := s.do(t, method, target, body, headers...)
	require.Less(t, a.Code, 300, "%s %s: %s", method, target, a.Body)
	return a.tree(t)
}

// tree is a decoded JSON object.
type tree map[string]any

func (a answer) tree(t testing.TB) tree {
	t.Helper()
	var out tree
	require.NoError(t, json.Unmarshal([]byte(a.Body), &out), "body %q", a.Body)
	return out
}

// at returns the value at a path of members and, as numbers, elements; nil if there is none.
func (tr tree) at(path ...any) any {
	var v any = map[string]any(tr)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// stream is an open watch.
type stream struct {
	t       testing.TB
	body    io.ReadCloser
	decoder *json.Decoder
}

// watch opens a watch; the end of the test closes it.
func (s *server) watch(t testing.TB, target string, headers ...string) *stream {
	t.Helper()
	resp, err := s.api.Transport().RoundTrip(newRequest(t, http.MethodGet, target, "", headers...))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	t.Cleanup(func() { resp.Body.Close() })
	return &stream{t, resp.Body, json.NewDecoder(resp.Body)}
}

// next waits for an event and returns its type and the name of its object, or the error that ended the stream.
func (st *stream) next() (event string, err error) {
	var ev tree
	if err := st.decoder.Decode(&ev); err != nil {
		return "", err
	}
	return fmt.Sprint(ev["type"], " ", ev.at("object", "metadata", "name")), nil
}

// wants waits for these events.
func (st *stream) wants(events ...string) {
	st.t.Helper()
	for _, want := range events {
		got, err := st.next()
		require.NoError(st.t, err)
		require.Equal(st.t, want, got)
	}
}

// leaseNamed is the shortest body that creates a Lease.
func leaseNamed(name string) string { return `{"metadata":{"name":"` + name + `"}}` }

// assertStatus checks the parts of a Status that clients act on.
func assertStatus(t testing.TB, a answer, code int, reason, message string) {
	t.Helper()
	assert.Equal(t, code, a.Code)
	s := a.tree(t)
	assert.Equal(t, "Status", s["kind"])
	assert.Equal(t, "Failure", s["status"])
	got, _ := s["reason"].(string)
	assert.Equal(t, reason, got)
	assert.Equal(t, message, s["message"])
	assert.EqualValues(t, code, s["code"])
}
