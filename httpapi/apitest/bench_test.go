package apitest_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
)

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
