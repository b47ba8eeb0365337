package bench

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

const kept = 100_000

// BenchmarkMemory reports the megabytes of heap that 100,000 Leases use after
// they were created as JSON and listed once. The goal is 200. Leases with equal
// labels or equal annotations share them, which changes the result much.
func BenchmarkMemory(b *testing.B) {
	for _, s := range []shape{elected, ownMaps, ownLabels, commonMaps} {
		b.Run(s.String(), func(b *testing.B) {
			var mb float64
			for b.Loop() {
				mb = heapOf(b, s)
			}
			b.ReportMetric(mb, "MB")
		})
	}
}

// The goal does not hold for Leases with unique labels and annotations: their two
// maps take as much as the rest, and Go has no smaller map.
func TestLeasesHoldAtMost200MB(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, s := range []shape{elected, ownLabels} {
		assert.LessOrEqual(t, heapOf(t, s), 200.0, s)
	}
}

// heapOf returns the megabytes of heap that a server with Leases uses.
func heapOf(t testing.TB, s shape) float64 {
	before := heap()
	st, api := newServer(t, kept, s)
	list := serve(api, listRequest("application/json"))
	assert.Greater(t, list.bytes, 500*kept)
	held := heap() - before
	runtime.KeepAlive(st)
	return float64(held) / 1e6
}

// heap returns the bytes of heap in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
