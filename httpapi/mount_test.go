package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestHandlerServesUnderAPrefix(t *testing.T) {
	s := newServer(t)
	mux := http.NewServeMux()
	mux.Handle("/k8s/", http.StripPrefix("/k8s", s.api))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })
	do := func(method, target, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", typeJSON)
		mux.ServeHTTP(w, r)
		return w
	}
	assert.Equal(t, http.StatusCreated, do("POST", "/k8s"+leases, leaseNamed("a")).Code)
	assert.Equal(t, http.StatusOK, do("GET", "/k8s"+leases+"/a", "").Code)
	assert.Equal(t, http.StatusOK, do("GET", "/k8s"+leases+"/", "").Code)
	for _, path := range []string{"/", "/api", "/apis", "/apis/", "/apis/coordination.k8s.io/v1/", "/version", "/healthz", "/healthz/ping"} {
		assert.Equal(t, http.StatusOK, do("GET", "/k8s"+path, "").Code, path)
	}
	assert.Equal(t, http.StatusNotFound, do("GET", "/k8s/nope", "").Code)
	assert.Equal(t, http.StatusTeapot, do("GET", leases, "").Code)
}

func TestEveryAnswerHasAnAuditID(t *testing.T) {
	s := newServer(t)
	seen := map[string]bool{}
	for _, path := range []string{leases, leases + "/none", "/nope", "/healthz", "/apis", "/version"} {
		a := s.do(t, "GET", path, "")
		id := a.Header.Get("Audit-Id")
		assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id, path)
		assert.False(t, seen[id])
		seen[id] = true
		assert.Equal(t, "no-cache, private", a.Header.Get("Cache-Control"), path)
	}
	assert.Equal(t, "mine", s.do(t, "GET", leases, "", "Audit-Id", "mine").Header.Get("Audit-Id"))
}

func TestAuditIDsFollowFromTheSeed(t *testing.T) {
	var runs [2][]string
	seen := map[string]bool{}
	for run := range runs {
		s := newServerWith(t, store.Options{Seed: 7}, httpapi.Options{})
		for _, path := range []string{leases, leases, leases, "/version"} {
			id := s.do(t, "GET", path, "").Header.Get("Audit-Id")
			runs[run] = append(runs[run], id)
			seen[id] = true
		}
	}
	assert.Equal(t, runs[0], runs[1])
	assert.Len(t, seen, 4)
}
