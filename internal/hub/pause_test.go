package hub

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestPausesBesideAWriterLoseNothing pauses and resumes watchers beside a writer, which publishes a change as soon as the lock of the hub is
// released. Others wait for the lock too: the goroutine that releases it has to wake them, and the change is complete before its next step.
// On a busy machine there are fewer changes.
func TestPausesBesideAWriterLoseNothing(t *testing.T) {
	const writes, readers, others, enough = 20_000, 2, 16, 3 * time.Second
	h := NewHub[string](Limits{Changes: writes}, first)
	all := &published{by: map[Scope][]uint64{}}
	var stop atomic.Bool
	var running sync.WaitGroup
	for range others {
		running.Go(func() {
			for !stop.Load() {
				h.Signal()
			}
		})
	}
	for i := range readers {
		running.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 4))
			for !stop.Load() && !t.Failed() {
				pauseOften(t, h, all, rnd)
			}
		})
	}
	rnd, start := rand.New(rand.NewPCG(9, 4)), time.Now()
	for v := uint64(first + 1); v <= first+writes && time.Since(start) < enough && !t.Failed(); v++ {
		c := &Change[string]{Version: v, Namespace: []string{"a", "b"}[rnd.IntN(2)], Name: []string{"x", "y", "z"}[rnd.IntN(3)]}
		all.add(c)
		awaitRelease(&h.mu)
		h.Publish(c.Version, c)
	}
	stop.Store(true)
	running.Wait()
	assert.Zero(t, h.Readers())
}

// awaitRelease returns when a writer has had a lock, or after a while.
func awaitRelease(mu *sync.Mutex) {
	const tries = 1000
	for range tries {
		if !mu.TryLock() {
			break
		}
		mu.Unlock()
	}
	for range tries {
		if mu.TryLock() {
			mu.Unlock()
			return
		}
	}
}

// pauseOften holds a watcher that pauses often against what was published.
func pauseOften(t *testing.T, h *Hub[string], all *published, rnd *rand.Rand) {
	r := &reader{h: h, scope: stressScopes[rnd.IntN(len(stressScopes))]}
	start := h.snapshot().head
	r.w = h.Read(r.scope, start, nil)
	defer r.w.Close()
	for n := rnd.IntN(100); n >= 0; n-- {
		r.w.Pause()
		if rnd.IntN(2) == 0 {
			awaitRelease(&h.mu) // at a release after its own, a change has come
		}
		r.w.Resume()
		if n > 0 && rnd.IntN(4) == 0 {
			continue // pauses again before it reads
		}
		if err := r.step(); !assert.NoError(t, err) {
			return
		}
	}
	want := all.between(r.scope, start, r.settled)
	assert.True(t, hasPrefix(r.got, want), "scope %+v from %d to %d: got %d changes, want at least these %d", r.scope, start, r.settled, len(r.got), len(want))
}
