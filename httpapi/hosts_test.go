package httpapi_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi"
)

func TestOnlyKnownHostsAreServed(t *testing.T) {
	open := guardedAPI(t, httpapi.Options{})
	api := guardedAPI(t, httpapi.Options{Hosts: []string{"Kubecoord.Example:8001", "10.0.0.9"}})
	debug := api.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost.:80": true, "127.0.0.1:8001": true, "127.0.0.2": true, "[::1]:80": true, "[::1]": true,
		"kubecoord.example": true, "kubecoord.example.:1": true, "10.0.0.9:8001": true, "192.0.2.7:8001": true, "": true,
		"evil.example": false, "evil.example:8001": false, "localhost.evil.example": false, "10.0.0.8": false, "127.0.0.1.evil.example": false,
		"kubecoord.example.evil": false, "[::2]:80": false, "0.0.0.0": false,
	} {
		t.Run(host, func(t *testing.T) {
			for _, path := range []string{leases, "/healthz", "/apis"} {
				r := httptest.NewRequest("GET", path, nil)
				r.Host = host
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: 8001}))
				for _, h := range []http.Handler{api, debug} {
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					if want {
						assert.Equal(t, 200, w.Code, w.Body)
						continue
					}
					assertStatus(t, answer{Code: w.Code, Body: w.Body.String()}, http.StatusForbidden, "Forbidden",
						`forbidden: this server is not known as host "`+host+`"`)
					assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
				}
				w := httptest.NewRecorder()
				open.ServeHTTP(w, r)
				assert.Equal(t, 200, w.Code, "without Hosts")
			}
		})
	}
}

func TestPagesOfOtherOriginsCannotWrite(t *testing.T) {
	open := guardedAPI(t, httpapi.Options{})
	api := guardedAPI(t, httpapi.Options{Hosts: []string{}})
	for name, row := range map[string]struct {
		method string
		header []string
		code   int
	}{
		"no browser":               {"POST", nil, 201},
		"a page of ours":           {"POST", []string{"Origin", "http://127.0.0.1:8001", "Sec-Fetch-Site", "same-origin"}, 201},
		"another site":             {"POST", []string{"Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		"another port":             {"POST", []string{"Origin", "http://127.0.0.1:8002", "Sec-Fetch-Site", "same-site"}, 403},
		"another site, old":        {"POST", []string{"Origin", "http://evil.example"}, 403},
		"no origin, another site":  {"POST", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a deletion of all":        {"DELETE", []string{"Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		"a read, which it can not": {"GET", []string{"Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			for _, a := range []*httpapi.API{api, open} {
				r := httptest.NewRequest(row.method, leases, strings.NewReader(`{"metadata":{"generateName":"a"}}`))
				if row.method != "POST" {
					r = httptest.NewRequest(row.method, leases, nil)
				}
				r.Host = "127.0.0.1:8001"
				for i := 0; i < len(row.header); i += 2 {
					r.Header.Set(row.header[i], row.header[i+1])
				}
				w := httptest.NewRecorder()
				a.ServeHTTP(w, r)
				if a == open || row.code != 403 {
					assert.Less(t, w.Code, 300)
					continue
				}
				assertStatus(t, answer{Code: w.Code, Body: w.Body.String()}, http.StatusForbidden, "Forbidden",
					`forbidden: a page of another origin, "`+r.Header.Get("Origin")+`", must not write`)
			}
		})
	}
}

func TestTransportMayNameAnyHost(t *testing.T) {
	s := newServer(t)
	s.api = guardedAPI(t, httpapi.Options{Hosts: []string{}})
	assert.Equal(t, 200, s.do(t, "GET", leases, "").Code)
}
