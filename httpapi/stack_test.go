//go:build !race

package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stack that grows past 8 KB is halved by the next garbage collection, and copied again by the next request. That took a twentieth of
// the time of an update.
func TestAWriteFitsAStackOf8KB(t *testing.T) {
	const connections = 50
	s := newServer(t)
	server := httptest.NewServer(s.api)
	defer server.Close()
	path := func(i int) string { return fmt.Sprintf("%s/l%d", leases, i) }
	for i := range 20 * connections {
		s.must(t, "POST", leases, fmt.Sprintf(benchBody, i, 0, 0), "User-Agent", "bench")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection shrinks stacks
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // each processor keeps up to 128 KB of free stacks, which count
	var open []net.Conn                              // until the end, as the end of a connection frees its stack
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for _, row := range []struct {
		method, contentType string
		of                  func(i int) (target, body string)
	}{
		{"POST", typeJSON, func(i int) (string, string) { return leases, fmt.Sprintf(benchBody, 10_000+i, 0, 0) }},
		{"PUT", typeJSON, func(i int) (string, string) {
			have := s.do(t, "GET", path(i), "").Body
			return path(i), strings.Replace(have, `"holderIdentity":"`, `"holderIdentity":"x`, 1)
		}},
		{"PATCH", "application/merge-patch+json", func(i int) (string, string) { return path(i), `{"spec":{"leaseTransitions":7}}` }},
		{"DELETE", typeJSON, func(i int) (string, string) { return path(i), "" }},
	} {
		t.Run(row.method, func(t *testing.T) {
			least := int64(math.MaxInt64)
			for n := range 3 { // what else needs stacks meanwhile is counted too, and seldom comes three times
				var all [connections]net.Conn
				for i := range all {
					c, err := net.Dial("tcp", server.Listener.Addr().String())
					require.NoError(t, err)
					all[i], open = c, append(open, c)
				}
				before := stacks()
				for i, c := range all {
					target, body := row.of(n*connections + i)
					fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: a\r\nUser-Agent: bench\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
						row.method, target, row.contentType, len(body), body)
					answer, err := http.ReadResponse(bufio.NewReader(c), nil)
					require.NoError(t, err)
					require.Less(t, answer.StatusCode, http.StatusMultipleChoices)
					_, err = io.Copy(io.Discard, answer.Body)
					require.NoError(t, err)
				}
				least = min(least, int64(stacks()-before)/connections)
			}
			t.Logf("%d bytes of stack a connection", least)
			assert.Less(t, least, int64(10<<10), "bytes of stack a connection: 8 KB, and a little for what it grew from")
		})
	}
}

// stacks returns the bytes that all stacks take.
func stacks() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}
