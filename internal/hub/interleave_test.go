package hub

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWatchSeesAChangeThatIsPublishedMeanwhile lets a change come into the history after a watch began and before it is registered. The
// change marks no watcher, so the watch must look for it.
func TestWatchSeesAChangeThatIsPublishedMeanwhile(t *testing.T) {
	h := NewHub[int](8, 0, 0)
	defer h.Close()
	h.mu.RLock() // as Publish does when it marks watchers
	opened := make(chan *Watcher[int])
	go func() {
		w, err := h.Watch(Scope{}, 0, time.Time{}, nil)
		assert.NoError(t, err)
		opened <- w
	}()
	for h.mu.TryRLock() { // until the watch waits to be registered
		h.mu.RUnlock()
		runtime.Gosched()
	}
	h.ring.append(&Change[int]{Version: 1})
	h.mu.RUnlock()
	w := <-opened
	defer w.Close()
	changes, _, err := w.Poll(nil, 1)
	require.NoError(t, err)
	assert.Len(t, changes, 1)
}

// TestShortBurstsReachTheirWatcher publishes a few changes at a time and then waits until the watcher has the last one. So a wake-up
// that is lost in the middle of a burst is not made up for by the next change. The watcher also asks for a version for a bookmark, which no
// later event may contradict. On a busy machine there are fewer bursts.
func TestShortBurstsReachTheirWatcher(t *testing.T) {
	const bursts, enough = 5_000, 5 * time.Second
	h := NewHub[int](64, 0, 0)
	defer h.Close()
	w, err := h.Watch(Scope{}, 0, time.Time{}, nil)
	require.NoError(t, err)
	var seen, turns atomic.Uint64 // of the reader
	var stop atomic.Bool
	var reader sync.WaitGroup
	reader.Go(func() {
		for bookmark := uint64(0); !stop.Load(); turns.Add(1) {
			select {
			case <-w.Wake():
				for more := true; more; {
					var changes []*Change[int]
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
			h.Publish(&Change[int]{Version: version})
			for range i * (n + 1) % 16 { // meet at different places
				h.Watchers()
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
