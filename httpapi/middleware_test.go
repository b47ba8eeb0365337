package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// behind returns a server whose Middleware calls handle with the handler of the API.
func behind(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, api http.Handler)) *server {
	t.Helper()
	return newServerWith(t, store.Options{}, httpapi.Options{Middleware: func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, api) })
	}})
}

func TestMiddlewareSeesTheRequestsOfEveryDoor(t *testing.T) {
	var seen []string
	s := behind(t, func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		seen = append(seen, r.URL.Path)
		api.ServeHTTP(w, r)
	})
	assert.Equal(t, http.StatusOK, s.do(t, "GET", leases, "").Code)
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, []string{leases, "/healthz"}, seen)
}

// The client has the answer only after a Middleware has recorded it, as behind a socket.
func TestClientGetsTheHeaderWithTheNextWrite(t *testing.T) {
	for name, next := range map[string]func(w http.ResponseWriter){
		"a part of the body": func(w http.ResponseWriter) { io.WriteString(w, "x") },
		"a flush":            func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"the end":            func(http.ResponseWriter) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := behind(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
					w.WriteHeader(http.StatusTeapot)
					time.Sleep(time.Second)
					next(w)
				})
				r, err := (&http.Client{Transport: s.api.Transport()}).Get("http://api/")
				require.NoError(t, err)
				defer r.Body.Close()
				assert.Equal(t, http.StatusTeapot, r.StatusCode)
				assert.Equal(t, time.Second, time.Since(began))
			})
		})
	}
}

func TestMiddlewareCanAnswerWithAStatus(t *testing.T) {
	var s *server
	s = behind(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		s.api.Fail(w, r, meta.NewTimeout("busy", 3))
	})
	a := s.do(t, "GET", leases, "", "Accept", typeJSON)
	assertStatus(t, a, http.StatusGatewayTimeout, "Timeout", "Timeout: busy")
	assert.Equal(t, "3", a.Header.Get("Retry-After"))
	assert.NotEmpty(t, a.Header.Get("Audit-Id"))
	a = s.do(t, "GET", leases, "", "Accept", typeProtobuf)
	assert.Equal(t, typeProtobuf, a.Header.Get("Content-Type"))
	assert.True(t, strings.HasPrefix(a.Body, "k8s\x00"), "%q", a.Body)
}

func TestErrorEventEqualsTheEventOfAnExpiredWatch(t *testing.T) {
	s := newServerWith(t, store.Options{}, httpapi.Options{})
	for _, accept := range []string{"", typeJSON, typeProtobuf, typeProtobuf + ";stream=watch", "application/json;as=Table;v=v1;g=meta.k8s.io"} {
		req := newRequest(t, "GET", leases+"?watch=true&resourceVersion=1", "", "Accept", accept)
		got := s.api.ErrorEvent(req, meta.NewExpired("too old resource version: 1 (1000)"))
		assert.Equal(t, s.send(t, req).Body, string(got), "Accept: %s", accept)
	}
}

func TestAbortedAnswerCutsTheConnection(t *testing.T) {
	for name, row := range map[string]struct {
		handle func(w http.ResponseWriter)
		body   string // what arrives of the answer, if it starts
		starts bool
	}{
		"before the answer":         {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "", false},
		"after the header":          {func(w http.ResponseWriter) { w.(http.Flusher).Flush(); panic(http.ErrAbortHandler) }, "", true},
		"in the middle":             {func(w http.ResponseWriter) { io.WriteString(w, "half"); panic(http.ErrAbortHandler) }, "half", true},
		"by a goroutine that exits": {func(w http.ResponseWriter) { io.WriteString(w, "half"); runtime.Goexit() }, "half", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := behind(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { row.handle(w) })
				resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, ""))
				if !row.starts {
					require.Equal(t, io.ErrUnexpectedEOF, err)
					return
				}
				require.NoError(t, err)
				body, err := io.ReadAll(resp.Body)
				assert.Equal(t, io.ErrUnexpectedEOF, err)
				assert.Equal(t, row.body, string(body))
				assert.NoError(t, resp.Body.Close())
			})
		})
	}
}

func TestWriteDeadlineEndsAnUnreadAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var end error
		s := behind(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			control := http.NewResponseController(w)
			assert.NoError(t, control.SetWriteDeadline(time.Now().Add(time.Second)))
			assert.NoError(t, control.SetWriteDeadline(time.Time{}))
			assert.NoError(t, control.SetWriteDeadline(time.Now().Add(time.Minute)))
			for end == nil {
				_, end = w.Write(make([]byte, 64<<10))
			}
		})
		start := time.Now()
		resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, ""))
		require.NoError(t, err)
		s.api.Close() // waits for the handler
		assert.Equal(t, time.Duration(0), time.Since(start), "the end of the API comes first")
		require.Error(t, end)
		resp.Body.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error)
		s := behind(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
			var end error
			for end == nil {
				_, end = w.Write(make([]byte, 64<<10))
			}
			done <- end
		})
		start := time.Now()
		resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, ""))
		require.NoError(t, err)
		assert.Equal(t, io.ErrUnexpectedEOF, <-done)
		assert.Equal(t, time.Minute, time.Since(start))
		_, err = io.ReadAll(resp.Body)
		assert.Equal(t, io.ErrUnexpectedEOF, err, "after what had been written")
	})
}

func TestAttributesOfEqualsTheAttributesOfAnAuthorizer(t *testing.T) {
	var told httpapi.Attributes
	api := guardedAPI(t, httpapi.Options{Authorize: func(a httpapi.Attributes) (bool, string) {
		told = a
		return true, ""
	}})
	for _, row := range []struct {
		method, target string
		want           httpapi.Attributes
	}{
		{"GET", leases + "/a", httpapi.Attributes{Verb: "get", Namespace: "default", Name: "a"}},
		{"GET", leases, httpapi.Attributes{Verb: "list", Namespace: "default"}},
		{"GET", allLeases + "?watch=1&timeoutSeconds=-1", httpapi.Attributes{Verb: "watch"}},
		{"POST", leases, httpapi.Attributes{Verb: "create", Namespace: "default"}},
		{"PATCH", leases + "/a", httpapi.Attributes{Verb: "patch", Namespace: "default", Name: "a"}},
		{"DELETE", leases, httpapi.Attributes{Verb: "deletecollection", Namespace: "default"}},
	} {
		r := httptest.NewRequest(row.method, row.target, nil)
		row.want.Path, row.want.IsResource = r.URL.Path, true
		row.want.Group, row.want.Version, row.want.Resource = "coordination.k8s.io", "v1", "leases"
		assert.Equal(t, row.want, httpapi.AttributesOf(r))
		api.ServeHTTP(httptest.NewRecorder(), r)
		assert.Equal(t, row.want, told, "%s %s", row.method, row.target)
	}
	for _, path := range []string{"/version", "/debug/pprof/profile/of/all", "/apis/g/v1", "/api/v1"} {
		assert.Equal(t, httpapi.Attributes{Verb: "get", Path: path}, httpapi.AttributesOf(httptest.NewRequest("GET", path, nil)))
	}
}
