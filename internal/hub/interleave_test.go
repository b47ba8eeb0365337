package hub

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestShortBurstsReachTheirWatcher publishes a few changes at a time and then waits until the watcher has the last one. So a wake-up
// that is lost in the middle of a burst is not made up for by the next change. The watcher also asks for a version for a bookmark, which no
// later event may contradict. On a busy machine there are fewer bursts.
func TestShortBurstsReachTheirWatcher(t *testing.T) {
	const bursts, enough = 5_000, 5 * time.Second
	h := NewHub[int](Limits{Changes: 64}, 0)
	defer h.Close()
	w := h.Read(Scope{}, 0)
	var seen, turns atomic.Uint64 // of the reader
	var stop atomic.Bool
	var reader sync.WaitGroup
	reader.Go(func() {
		for bookmark := uint64(0); !stop.Load(); turns.Add(1) {
			select {
			case <-w.Wake():
				for more := true; more; {
					var changes []*Change[int]
					var err error
					changes, more, err = w.Poll(nil, math.MaxUint64)
					assert.NoError(t, err)
					for _, c := range changes {
						assert.Greater(t, c.Version, bookmark, "an event after its bookmark")
						seen.Store(c.Version)
					}
				}
			default:
			}
			if v, ok := w.Settled(); ok {
				bookmark = v
			}
		}
	})
	version, start := uint64(0), time.Now()
	for i := 0; i < bursts && time.Since(start) < enough && !t.Failed(); i++ {
		for n := range 1 + i%3 {
			version++
			h.Publish(version, &Change[int]{Version: version})
			for range i * (n + 1) % 16 { // meet at different places
				h.Readers()
			}
		}
		for wakes := turns.Load() + 2; turns.Load() < wakes && seen.Load() != version; {
			runtime.Gosched()
		}
		assert.Equal(t, version, seen.Load(), "the watcher was not woken for the last change of burst %d", i)
	}
	stop.Store(true)
	reader.Wait()
}
