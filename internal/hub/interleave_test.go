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

// TestWatchSeesAChangeThatIsPublishedMeanwhile lets a watch begin while the next change is published. Wherever the two meet, the watch
// must see the change. The interleavings that matter are short, so there are many attempts.
func TestWatchSeesAChangeThatIsPublishedMeanwhile(t *testing.T) {
	for attempt := range 20_000 {
		h := NewHub[int](8, 0, 0)
		var published sync.WaitGroup
		ready := make(chan struct{})
		published.Go(func() {
			close(ready)
			h.Publish(&Change[int]{Version: 1})
		})
		<-ready
		for range attempt % 64 { // meet at different places
			h.Watchers()
		}
		w, err := h.Watch(Scope{}, 0, time.Time{}, nil)
		require.NoError(t, err)
		published.Wait()
		changes, _, err := w.Poll(nil, 1)
		require.NoError(t, err)
		require.Len(t, changes, 1, "attempt %d", attempt)
		w.Close()
		h.Close()
	}
}

// TestShortBurstsReachTheirWatcher publishes a few changes at a time and then waits until the watcher has the last one. So a wake-up
// that is lost in the middle of a burst is not made up for by the next change. The watcher also asks for a version for a bookmark, which no
// later event may contradict.
func TestShortBurstsReachTheirWatcher(t *testing.T) {
	const bursts = 5_000
	h := NewHub[int](64, 0, 0)
	defer h.Close()
	w, err := h.Watch(Scope{}, 0, time.Time{}, nil)
	require.NoError(t, err)
	var seen atomic.Uint64
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		bookmark := uint64(0)
		for {
			select {
			case <-stop:
				return
			case <-w.Wake():
				for more := true; more; {
					var changes []*Change[int]
					changes, more, err = w.Poll(nil, math.MaxUint64)
					if !assert.NoError(t, err) {
						return
					}
					for _, c := range changes {
						if !assert.Greater(t, c.Version, bookmark, "an event after its bookmark") {
							return
						}
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
	version := uint64(0)
	giveUp := time.Now().Add(2 * time.Minute) // only of a failing test
	for i := range bursts {
		for n := range 1 + i%3 {
			version++
			h.Publish(&Change[int]{Version: version})
			for range i * (n + 1) % 16 { // meet at different places
				h.Watchers()
			}
		}
		for turn := 0; seen.Load() != version; turn++ {
			if runtime.Gosched(); turn%1000 == 999 && (t.Failed() || time.Now().After(giveUp)) {
				close(stop)
				reader.Wait()
				require.Equal(t, version, seen.Load(), "the watcher was not woken for the last change of burst %d", i)
			}
		}
	}
	close(stop)
	reader.Wait()
}
