package apitest_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
)

// BenchmarkNew measures a server from New to the end of its first answer, and its own end.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		e := &ending{TB: b}
		api := apitest.New(e)
		req, err := http.NewRequest("GET", api.Host()+leases, nil)
		require.NoError(b, err)
		resp, err := api.Transport().RoundTrip(req)
		require.NoError(b, err)
		resp.Body.Close()
		e.end()
	}
}

// BenchmarkAlive measures the memory of servers that live at once: as New makes them, and after each has answered a
// request and holds a Lease.
func BenchmarkAlive(b *testing.B) {
	const servers = 10_000
	for name, use := range map[string]bool{"unused": false, "with a lease": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				e := &ending{TB: b}
				before := heap()
				all := make([]*apitest.API, servers)
				for i := range all {
					all[i] = apitest.New(e)
					if use {
						d := doorTo(all[i])
						d.create(b, "a")
					}
				}
				b.ReportMetric(float64(heap()-before)/servers, "B/server")
				runtime.KeepAlive(all)
				e.end()
			}
		})
	}
}

// withLeases returns a server with so many Leases.
func withLeases(b *testing.B, n int) *apitest.API {
	api := apitest.New(b)
	for i := range n {
		_, err := lease.In(api.Store()).Create(b.Context(), leaseOf(strconv.Itoa(i)), storeOptions)
		require.NoError(b, err)
	}
	return api
}

// BenchmarkFork measures a fork and its end, of a server with as many Leases.
func BenchmarkFork(b *testing.B) {
	for _, objects := range []int{1, 100_000} {
		api := withLeases(b, objects)
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e := &ending{TB: b}
				api.Fork(e)
				e.end()
			}
		})
	}
}

// TestAThousandServersAreSmall checks the memory of BenchmarkAlive with a wide margin.
func TestAThousandServersAreSmall(t *testing.T) {
	const servers, most = 1000, 50 << 10
	e := &ending{TB: t}
	defer e.end()
	before := heap()
	all := make([]*apitest.API, servers)
	for i := range all {
		all[i] = apitest.New(e)
		_, err := lease.In(all[i].Store()).Create(t.Context(), leaseOf("a"), storeOptions)
		require.NoError(t, err)
	}
	require.Less(t, (heap()-before)/servers, int64(most), "bytes for each server")
	runtime.KeepAlive(all)
}

// heap returns the bytes that are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkVerdict measures Verdict after 10,000 renewals that four watches followed.
func BenchmarkVerdict(b *testing.B) {
	e := &ending{TB: b}
	defer e.end()
	api := apitest.New(e, apitest.Options{KeepHistory: 100_000})
	d := doorTo(api)
	d.create(b, "a")
	for range 4 {
		s := d.watch(b, leases+"?watch=true")
		go io.Copy(io.Discard, s)
	}
	for i := range 10_000 {
		patch := fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, i)
		d.do(b, "PATCH", leasesA, patch, "Content-Type", "application/merge-patch+json")
	}
	b.ReportAllocs()
	for b.Loop() {
		require.Empty(b, api.Verdict().LostUpdates)
	}
}
