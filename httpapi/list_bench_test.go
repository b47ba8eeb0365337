package httpapi_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchLists returns a server with so many leases, of which each tenth has the label shard=3.
func benchLists(b *testing.B, objects int) *server {
	s := newServer(b)
	for i := range objects {
		s.must(b, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"l%06d","labels":{"app":"agent","shard":"%d"}},"spec":{"holderIdentity":"node-a","leaseDurationSeconds":15}}`, i, i%10))
	}
	return s
}

// get serves a request into a writer that keeps nothing.
func (s *server) get(b *testing.B, w *reader, req *http.Request) {
	clear(w.header)
	w.code, w.size = 0, 0
	s.api.ServeHTTP(w, req)
	require.Equal(b, http.StatusOK, w.code)
}

// A list that is asked for again before the next change is remembered. In the rows with write a lease changes before each
// list; the write costs little beside it.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{500, 10_000} {
		s := benchLists(b, n)
		for _, row := range []struct{ name, query, accept string }{
			{"json", "", typeJSON},
			{"protobuf", "", typeProtobuf},
			{"labels", "?labelSelector=shard%3D3", typeJSON},
			{"table", "", typeJSON + asTable},
			{"partial", "", typeJSON + asPartialList},
			{"partial-protobuf", "", typeProtobuf + asPartialList},
			{"pretty", "?pretty=1", typeJSON},
			{"yaml", "", typeYAML},
		} {
			for _, change := range []string{"again", "write"} {
				b.Run(fmt.Sprintf("objects=%d/%s/%s", n, row.name, change), func(b *testing.B) {
					req := newRequest(b, "GET", leases+row.query, "", "Accept", row.accept)
					w := &reader{header: http.Header{}}
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if change == "write" {
							s.must(b, "PATCH", leases+"/l000001", fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, i), "Content-Type", "application/merge-patch+json")
						}
						s.get(b, w, req)
					}
					b.SetBytes(int64(w.size))
				})
			}
		}
	}
}

// BenchmarkWalk reads all leases in pages of 500.
func BenchmarkWalk(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		s := benchLists(b, n)
		first := regexp.MustCompile(`"continue":"([^"]*)"`)
		for _, change := range []string{"again", "write"} {
			b.Run(fmt.Sprintf("objects=%d/%s", n, change), func(b *testing.B) {
				// The tokens are found once: the last page has none.
				token, targets := "", []string(nil)
				for {
					targets = append(targets, leases+"?limit=500&continue="+token)
					found := first.FindStringSubmatch(s.do(b, "GET", targets[len(targets)-1], "").Body)
					if found == nil {
						break
					}
					token = found[1]
				}
				w := &reader{header: http.Header{}}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if change == "write" {
						s.must(b, "PATCH", leases+"/l000001", fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, i), "Content-Type", "application/merge-patch+json")
					}
					for _, target := range targets {
						s.get(b, w, newRequest(b, "GET", target, ""))
					}
				}
			})
		}
	}
}
