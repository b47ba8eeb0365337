package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// FuzzKubeconfig reads any text as a kubeconfig, without the files that it names. A Config that
// comes out makes a Client.
func FuzzKubeconfig(f *testing.F) {
	f.Add([]byte("{current-context: a, contexts: [{name: a, context: {cluster: b, user: c}}], clusters: [{name: b, cluster: {server: 'https://x', certificate-authority-data: YQ==}}], users: [{name: c, user: {token: t}}]}"))
	f.Add([]byte("{current-context: a, contexts: [{name: a, context: {cluster: b, user: c}}], clusters: [{name: b, cluster: {server: 'https://x', insecure-skip-tls-verify: true}}], users: [{name: c, user: {exec: {}, client-key-data: YQ==}}]}"))
	f.Add([]byte("apiVersion: v1\nclusters:\n- cluster: {server: \"http://a/b\"}\n"))
	f.Add([]byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := parseKubeconfig(data)
		if err != nil {
			return
		}
		for i := range k.Clusters {
			k.Clusters[i].Cluster.CertificateAuthority = ""
		}
		for i := range k.Users {
			u := &k.Users[i].User
			u.ClientCertificate, u.ClientKey, u.TokenFile = "", "", ""
		}
		config, err := k.config()
		if err != nil || strings.ContainsAny(config.Token, "\r\n") {
			return
		}
		if _, err := New(config); err != nil {
			t.Fatalf("got %v, want a Client for %+v", err, config)
		}
	})
}

// stream answers the first request with a body, and all others with a 403 of the API.
type stream struct {
	body string
	n    int
}

// RoundTrip implements http.RoundTripper.
func (s *stream) RoundTrip(*http.Request) (*http.Response, error) {
	code, body := http.StatusOK, s.body
	if s.n++; s.n > 1 {
		code, body = http.StatusForbidden, `{"kind":"Status","status":"Failure","details":{"kind":"leases"}}`
	}
	return &http.Response{StatusCode: code, Status: fmt.Sprint(code), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// FuzzWatchFrames watches a server that sends anything. The watch ends, and each event has an
// object with a version.
func FuzzWatchFrames(f *testing.F) {
	const object = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"a","resourceVersion":"7"},"spec":{"holderIdentity":"x","renewTime":"2030-01-02T03:04:05.000006Z"}}`
	f.Add(`{"type":"ADDED","object":` + object + "}\n" + `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}`)
	f.Add(`{"type":"DELETED","object":` + object + `}{"type":"ERROR","object":{"kind":"Status","code":410}}`)
	f.Add(`{"type":"ERROR","object":null}`)
	f.Add(`{"type":"MODIFIED","object":[]}`)
	f.Add(`{"type":`)
	f.Fuzz(func(t *testing.T, body string) {
		c, err := New(Config{Server: "http://fuzz", Transport: &stream{body: body}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var last error
		for ev, err := range In(c, lease.Kind()).Watch(ctx, store.WatchOptions{ResourceVersion: "1", AllowWatchBookmarks: true}) {
			if last = err; err != nil {
				continue
			}
			if ev.Object.ResourceVersion == "" || ev.Object.Kind != "" || ev.Type == watch.Error {
				t.Fatalf("got %+v, want an object with a version and without a type", ev)
			}
		}
		if last == nil || ctx.Err() != nil {
			t.Fatalf("got %v, want an error before the end of the context", last)
		}
	})
}
