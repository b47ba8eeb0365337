package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// assertOverload checks the answer of a real server to one request too many.
func assertOverload(t *testing.T, a answer) {
	t.Helper()
	assert.Equal(t, http.StatusTooManyRequests, a.Code)
	assert.Equal(t, "Too many requests, please try again later.\n", a.Body)
	assert.Equal(t, "1", a.Header.Get("Retry-After"))
	assert.Equal(t, "text/plain; charset=utf-8", a.Header.Get("Content-Type"))
}

func TestRequestsInFlightAreLimited(t *testing.T) {
	users := httpapi.BearerTokens(map[string]httpapi.User{"root": {Name: "root", Groups: []string{"system:masters"}}, "alice": {Name: "alice"}})
	const read, write = leases + "/a?resourceVersion=5000", leases
	for name, row := range map[string]struct {
		opts          httpapi.Options
		reads, writes int // that are refused
	}{
		"none":   {httpapi.Options{}, 0, 0},
		"reads":  {httpapi.Options{Reads: 2}, 3, 0},
		"writes": {httpapi.Options{Writes: 1}, 0, 4},
		"both":   {httpapi.Options{Reads: 2, Writes: 1}, 3, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row.opts.Authenticate = users
				row.opts.Authorize = func(a httpapi.Attributes) (bool, string) { return a.Path != "/metrics", "" }
				s := newServerWith(t, store.Options{}, row.opts)
				token := []string{"Authorization", "Bearer alice"}
				codes := make(chan string, 100)
				send := func(method, target, body string) {
					codes <- fmt.Sprint(method, " ", s.send(t, newRequest(t, method, target, body, token...)).Code)
				}
				post := func() {
					req := newRequest(t, "POST", write, "", append(token, "Content-Type", typeJSON)...)
					req.Body, req.ContentLength = newSlowBody(), 100
					codes <- fmt.Sprint("POST ", s.send(t, req).Code)
				}
				for range 5 {
					go send("GET", read, "")
					go post()
				}
				synctest.Wait()
				got := map[string]int{}
				for range len(codes) {
					got[<-codes]++
				}
				assert.Equal(t, row.reads, got["GET 429"])
				assert.Equal(t, row.writes, got["POST 429"])
				if row.reads > 0 {
					assertOverload(t, s.do(t, "GET", leases, "", token...))
					assertOverload(t, s.do(t, "GET", "/apis", "", token...))
					assertOverload(t, s.do(t, "GET", "/metrics", "", token...)) // before it is forbidden
					assert.Equal(t, 429, s.do(t, "HEAD", leases, "", token...).Code)
					assert.Equal(t, 200, s.do(t, "GET", leases, "", "Authorization", "Bearer root").Code, "system:masters are never refused")
					assert.Equal(t, 401, s.do(t, "GET", leases, "").Code, "a user comes first")
					assert.Equal(t, 200, s.do(t, "GET", "/healthz", "").Code)
				}
				if row.writes > 0 {
					assertOverload(t, s.do(t, "PUT", leases+"/a", leaseNamed("a"), token...))
					assertOverload(t, s.do(t, "DELETE", leases, "", token...))
				}
				s.watch(t, leases+"?watch=true", token...)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				assert.Equal(t, 200, s.do(t, "GET", leases, "", token...).Code, "all have been answered")
				assert.Equal(t, 201, s.do(t, "POST", leases, leaseNamed("a"), token...).Code)
			})
		})
	}
}

func TestWatchesOfAClientAreLimited(t *testing.T) {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{WatchesPerClient: 2, Reads: 1})
	t.Cleanup(func() { api.Close(); st.Close() })
	watch := func(from, target string) (*httptest.ResponseRecorder, chan struct{}) {
		w, ended := httptest.NewRecorder(), make(chan struct{})
		r := httptest.NewRequest("GET", target, nil)
		r.RemoteAddr = from
		go func() {
			defer close(ended)
			api.ServeHTTP(w, r)
		}()
		return w, ended
	}
	open := func(n int) {
		require.Eventually(t, func() bool { return st.Watchers() == n }, time.Minute, time.Millisecond)
	}
	watch("10.0.0.1:1", leases+"?watch=true")
	watch("10.0.0.1:2", "/apis/coordination.k8s.io/v1/watch/leases?timeoutSeconds=1")
	open(2)
	w, ended := watch("10.0.0.1:3", leases+"?watch=1")
	<-ended
	assertOverload(t, answer{Code: w.Code, Header: w.Header(), Body: w.Body.String()})
	watch("[::1]:3", leases+"?watch=true")
	open(3)
	open(2) // after a second
	watch("10.0.0.1:4", leases+"?watch=true")
	open(3)
}

func TestForbiddenRequestsAreNotInFlightAnyMore(t *testing.T) {
	const forbidden = "/apis/coordination.k8s.io/v1/namespaces/forbidden/leases"
	opts := httpapi.Options{Reads: 1, Writes: 1, WatchesPerClient: 1, Authorize: func(a httpapi.Attributes) (bool, string) {
		return a.Namespace != "forbidden", ""
	}}
	for _, row := range []struct{ method, query, body string }{
		{"GET", "", ""}, {"GET", "?watch=true&timeoutSeconds=1", ""}, {"POST", "", leaseNamed("a")}, {"DELETE", "", ""},
	} {
		t.Run(row.method+row.query, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServerWith(t, store.Options{}, opts)
				for range 3 {
					w := httptest.NewRecorder()
					s.api.ServeHTTP(w, newRequest(t, row.method, forbidden+row.query, row.body))
					require.Equal(t, http.StatusForbidden, w.Code, w.Body)
				}
				assert.Less(t, s.do(t, row.method, leases+row.query, row.body).Code, 300)
			})
		})
	}
}

// What is taken for a watch is refused here.
func TestFalseAsksForAList(t *testing.T) {
	s := newServerWith(t, store.Options{}, httpapi.Options{WatchesPerClient: 1})
	s.watch(t, leases+"?watch=true")
	for _, target := range []string{leases + "?watch=true", leases + "?%77atch=true"} {
		assertOverload(t, s.do(t, "GET", target, ""))
	}
	for _, target := range []string{leases + "?watch=0", leases + "?watch=False", leases + "?watch=false", leases} {
		assert.Contains(t, s.do(t, "GET", target, "").Body, `"kind":"LeaseList"`, target)
	}
}
