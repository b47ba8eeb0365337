package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestHealthChecksOfTheUser(t *testing.T) {
	var etcd, ready error
	s := newServerWith(t, store.Options{}, httpapi.Options{Checks: []httpapi.HealthCheck{
		{Name: "etcd", Healthy: func(context.Context) error { return etcd }},
		{Name: "etcd-readiness", ReadyOnly: true, Healthy: func(context.Context) error { return ready }},
	}})
	expect := func(target string, code int, body string) {
		t.Helper()
		a := s.do(t, "GET", target, "")
		assert.Equal(t, code, a.Code, target)
		assert.Equal(t, body, a.Body, target)
		assert.Equal(t, "text/plain; charset=utf-8", a.Header.Get("Content-Type"))
	}
	const passed = "[+]ping ok\n[+]log ok\n[+]etcd ok\n"
	for _, name := range []string{"healthz", "livez"} {
		expect("/"+name, 200, "ok")
		expect("/"+name+"?verbose", 200, passed+name+" check passed\n")
		expect("/"+name+"/etcd", 200, "ok")
		expect("/"+name+"/etcd-readiness", 404, "404 page not found\n")
	}
	expect("/readyz?verbose", 200, passed+"[+]etcd-readiness ok\nreadyz check passed\n")
	expect("/readyz/etcd-readiness", 200, "ok")
	paths := s.do(t, "GET", "/", "").tree(t)["paths"]
	assert.Contains(t, paths, "/readyz/etcd-readiness")
	assert.Contains(t, paths, "/livez/etcd")
	assert.NotContains(t, paths, "/livez/etcd-readiness")

	ready = errors.New("the cache is behind")
	expect("/livez", 200, "ok")
	expect("/readyz", 500, passed+"[-]etcd-readiness failed: reason withheld\nreadyz check failed\n")
	expect("/readyz?exclude=etcd-readiness", 200, "ok")
	expect("/readyz/etcd-readiness", 500, "internal server error: the cache is behind\n")

	etcd = errors.New("connection refused")
	expect("/livez?exclude=none", 500, "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n"+
		"warn: some health checks cannot be excluded: no matches for \"none\"\nlivez check failed\n")
	expect("/livez?verbose&exclude=etcd", 200, "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\nlivez check passed\n")
	assert.Equal(t, "nosniff", s.do(t, "GET", "/livez/etcd", "").Header.Get("X-Content-Type-Options"))
}

func TestVersionIsJSONOnly(t *testing.T) {
	s := newServer(t)
	for _, accept := range []string{"text/html", "application/yaml", typeProtobuf} {
		a := s.do(t, "GET", "/version", "", "Accept", accept)
		assert.Equal(t, http.StatusNotAcceptable, a.Code, accept)
	}
	a := s.do(t, "GET", "/version", "", "Accept", "text/html")
	assertStatus(t, a, http.StatusNotAcceptable, "NotAcceptable", "406: Not Acceptable\n\nAvailable representations: application/json")
}
