package hub

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadersWakeAfterAllChangesOfAVersionAreReadable(t *testing.T) {
	p := newHub(t, 8)
	w := p.watch(Scope{}, first)
	last := uint64(first + 1)
	p.publish("ns", "a")
	got, _ := poll(t, w)
	assert.Equal(t, []uint64{last}, got)
	require.True(t, woken(w))
	last++
	p.publishAll("a", "b", "c")
	got, _ = poll(t, w)
	assert.Equal(t, []uint64{last, last, last}, got)
}

// A change marks some readers of a group, and others come and go before it is read.
func TestReadersComeAndGoWhileOthersAreMarked(t *testing.T) {
	p := newHub(t, 8)
	p.watch(Scope{}, first)
	var others []*Reader[string]
	for range 2 {
		others = append(others, p.watch(Scope{}, first))
	}
	p.publish("ns", "a")
	for _, o := range others {
		poll(t, o) // it is not marked
	}
	others[0].Close()
	last := p.watch(Scope{}, first+1)
	others[1].Close()
	p.publish("ns", "b")
	require.True(t, woken(last))
	got, _ := poll(t, last)
	assert.Equal(t, []uint64{first + 2}, got)
}

// A reader that polls all the time meets a version that is being published.
func TestReadersNeverMeetAPartOfAVersion(t *testing.T) {
	const versions, each = 10_000, 8
	p := newHub(t, versions*each)
	w := p.watch(Scope{}, first)
	var read sync.WaitGroup
	read.Go(func() {
		for last := uint64(first); last < first+versions; {
			got, _, err := w.Poll(nil, math.MaxUint64)
			if !assert.NoError(t, err) || !assert.Zero(t, len(got)%each) {
				return
			}
			for _, c := range got {
				last = c.Version
			}
		}
	})
	for range versions {
		p.publishAll("a", "b", "c", "d", "e", "f", "g", "h")
	}
	read.Wait()
}

func TestHubIsClosedBeforeItsWatchersWake(t *testing.T) {
	p := newHub(t, 8)
	w := p.watch(Scope{}, first)
	p.mu.Lock()
	var closed sync.WaitGroup
	closed.Go(p.Close)
	<-p.Done()
	assert.False(t, woken(w))
	p.mu.Unlock()
	closed.Wait()
	assert.True(t, woken(w))
}

func TestLossWakesThoseWhoWaitForAVersion(t *testing.T) {
	p := newHub(t, 8)
	_, next := p.Head()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.WaitFor(ctx, first+5) }()
	for waiting := false; !waiting; runtime.Gosched() {
		p.mu.Lock()
		waiting = len(p.waiters) > 0
		p.mu.Unlock()
	}
	p.Lose(first + 5)
	select {
	case <-next:
	default:
		assert.Fail(t, "the history has changed")
	}
	cancel()
	assert.NoError(t, <-done)
}

// The history is long, so that it takes a while to drop it.
func TestBookmarkNeverHidesALoss(t *testing.T) {
	const size = 4096
	for range 100 {
		h := NewHub[int](Limits{Changes: size}, 0)
		for v := range uint64(size) {
			h.Publish(v+1, &Change[int]{Version: v + 1})
		}
		w := h.Read(Scope{}, size)
		var lost atomic.Bool
		var writer sync.WaitGroup
		writer.Go(func() {
			h.Lose(size + 5)
			lost.Store(true)
		})
		bookmark, err := uint64(0), error(nil)
		for err == nil {
			end := lost.Load()
			if _, _, err = w.Poll(nil, math.MaxUint64); err == nil {
				require.False(t, end)
				if v, ok := w.Settled(); ok {
					bookmark = v
				}
			}
		}
		writer.Wait()
		require.EqualValues(t, size, max(bookmark, size))
	}
}

func TestWatchersOfOneScopeComeAndGoAtOnce(t *testing.T) {
	p := newHub(t, 8)
	var stop atomic.Bool
	var all, signals sync.WaitGroup
	signals.Go(func() {
		for !stop.Load() {
			p.Signal()
		}
	})
	for range 3 {
		all.Go(func() {
			for range 3000 {
				a, b := p.Read(Scope{}, first), p.Read(Scope{Namespace: "ns"}, first)
				a.Close()
				b.Close()
			}
		})
	}
	all.Wait()
	stop.Store(true)
	signals.Wait()
	assert.Zero(t, p.Readers())
}

// A channel or a wait that got lost would never end.
func TestManyWaitForTheNextChange(t *testing.T) {
	const versions = 20_000
	p := newHub(t, 8)
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for version := uint64(first); version < first+versions; {
				var next <-chan struct{}
				if version, next = p.Head(); version == first+versions {
					return
				}
				if n%2 == 0 {
					<-next
				} else if version++; !assert.NoError(t, p.WaitFor(t.Context(), version)) {
					return
				}
			}
		})
	}
	for range versions {
		p.publish("ns", "a")
	}
	all.Wait()
	assert.Empty(t, p.waiters)
}
