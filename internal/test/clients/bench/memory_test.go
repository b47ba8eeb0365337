package bench

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

const kept = 100_000

// BenchmarkMemory reports the megabytes of heap that 100,000 Leases hold which
// were created as JSON and listed once. The goal is 200. Much depends on how
// many of the Leases have equal labels, or equal annotations: those share them.
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

// Not for Leases with labels and annotations that no other has: two maps take
// as much as the rest, and there is no smaller one in Go.
func TestLeasesHoldAtMost200MB(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, s := range []shape{elected, ownLabels} {
		assert.LessOrEqual(t, heapOf(t, s), 200.0, s)
	}
}

// heapOf returns the megabytes of heap that a server with Leases in it takes.
func heapOf(t testing.TB, s shape) float64 {
	before := heap()
	st, api := newServer(t, kept, s)
	list := serve(api, listRequest("application/json"))
	assert.Greater(t, list.bytes, 500*kept)
	held := heap() - before
	runtime.KeepAlive(st)
	return float64(held) / 1e6
}

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
