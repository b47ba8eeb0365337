package hub

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// whileItWaits runs a function that takes the lock of a hub. When the function waits for the lock,
// meanwhile runs.
func whileItWaits(p *publisher, function, meanwhile func()) {
	p.mu.RLock()
	var running sync.WaitGroup
	var over atomic.Bool
	running.Go(func() {
		function()
		over.Store(true)
	})
	for p.mu.TryRLock() && !over.Load() {
		p.mu.RUnlock()
		runtime.Gosched()
	}
	assert.False(p.t, over.Load(), "it did not lock")
	meanwhile()
	p.mu.RUnlock()
	running.Wait()
}

// enterHistory puts the next change into the history, as the first half of Publish does.
func (p *publisher) enterHistory(namespace, name string) *Change[string] {
	c := p.next(namespace, name)
	p.ring.append(c)
	p.ring.head.Store(c.Version)
	return c
}

func TestChangesAreReadableThenMarkedThenSettled(t *testing.T) {
	p := newHub(t, 8)
	var w *Watcher[string]
	var last uint64
	wanted, woke := 0, 0
	wants := func(c *Change[string]) bool {
		wanted++
		assert.Equal(t, last, p.ring.head.Load(), "a watcher that is woken finds all changes of the version")
		assert.Less(t, p.settled.Load(), last, "a bookmark would hide the change")
		assert.False(t, p.mu.TryLock(), "no watcher comes or goes meanwhile")
		return true
	}
	w, err := p.WatchWanted(Scope{}, first, p.now, func() {
		woke++
		assert.Equal(t, last, w.marked.Load())
		assert.Empty(t, w.wake, "the reader is not awake yet")
	}, wants)
	require.NoError(t, err)
	last = first + 1
	p.publish("ns", "a")
	got, _ := poll(t, w)
	assert.Equal(t, []uint64{last}, got)
	require.True(t, woken(w))
	last++
	p.publishAll("a", "b", "c")
	got, _ = poll(t, w)
	assert.Equal(t, []uint64{last, last, last}, got)
	assert.Equal(t, 4, wanted)
	assert.Equal(t, 2, woke, "once for a version")
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

func TestVersionIsSettledBeforeThoseWhoWaitForItWake(t *testing.T) {
	p := newHub(t, 8)
	_, next := p.Head()
	whileItWaits(p, func() { p.publish("ns", "a") }, func() {
		assert.EqualValues(t, first+1, p.settled.Load())
		select {
		case <-next:
			assert.Fail(t, "it was closed without the lock")
		default:
		}
	})
	<-next
	assert.Nil(t, p.nextChange, "nobody waits")
}

func TestBookmarkWaitsForTheMarksOfItsVersion(t *testing.T) {
	p := newHub(t, 8)
	w := p.watch(Scope{}, first)
	p.mu.Lock() // the writer cannot mark watchers
	var writer sync.WaitGroup
	writer.Go(func() { p.publish("ns", "a") })
	for p.ring.head.Load() == first {
		runtime.Gosched()
	}
	version, ok := w.Settled()
	assert.True(t, ok)
	assert.EqualValues(t, first, version)
	p.mu.Unlock()
	writer.Wait()
}

func TestResumedWatcherReadsNoChangeTwice(t *testing.T) {
	p := newHub(t, 8)
	w := p.watch(Scope{}, first)
	p.publish("ns", "a")
	poll(t, w)
	w.marked.Store(first + 1) // the writer has not yet seen that the change was read
	w.Pause()
	w.Resume()
	got, _ := poll(t, w)
	assert.Empty(t, got)
}

func TestWaitForSeesAVersionThatComesMeanwhile(t *testing.T) {
	p := newHub(t, 8)
	whileItWaits(p, func() { assert.NoError(t, p.WaitFor(t.Context(), first+1)) }, func() { p.enterHistory("ns", "a") })
}

func TestWatchReportsAnExpiryThatComesMeanwhile(t *testing.T) {
	p := newHub(t, 1)
	whileItWaits(p, func() {
		_, err := p.Watch(Scope{}, first, p.now, nil)
		assert.Equal(t, &ExpiredError{Requested: first, Oldest: first + 1}, err)
	}, func() {
		p.enterHistory("ns", "a")
		p.enterHistory("ns", "a")
	})
}

func TestResumedWatcherSeesAChangeThatComesMeanwhile(t *testing.T) {
	p := newHub(t, 8)
	w := p.watch(Scope{}, first)
	w.Pause()
	whileItWaits(p, w.Resume, func() { p.enterHistory("ns", "a") })
	require.True(t, woken(w))
	got, _ := poll(t, w)
	assert.Equal(t, []uint64{first + 1}, got)
}

func TestPausedWatcherSeesAChangeThatWasNotMarked(t *testing.T) {
	p := newHub(t, 8)
	w := p.watch(Scope{}, first)
	c := p.enterHistory("ns", "a")
	w.Pause()
	p.settled.Store(c.Version) // the writer has found no watcher to mark
	w.Resume()
	got, _ := poll(t, w)
	assert.Equal(t, []uint64{c.Version}, got)
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

func TestLossIsCompleteBeforeWatchersWake(t *testing.T) {
	p := newHub(t, 8)
	w := p.watch(Scope{}, first)
	p.mu.Lock()
	var lost sync.WaitGroup
	lost.Go(func() { p.Lose(first + 5) })
	for tries := 0; p.losses.Load() < 2; tries++ {
		if tries == 1_000_000 {
			assert.Fail(t, "a watcher may be registered that does not notice the loss")
			break
		}
		runtime.Gosched()
	}
	assert.False(t, woken(w))
	p.mu.Unlock()
	lost.Wait()
	assert.True(t, woken(w))
}

func TestLossWakesThoseWhoWaitForAVersion(t *testing.T) {
	p := newHub(t, 8)
	_, next := p.Head()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.WaitFor(ctx, first+5) }()
	for waiting := false; !waiting; runtime.Gosched() {
		p.mu.RLock()
		waiting = len(p.waiters) > 0
		p.mu.RUnlock()
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
		h := NewHub[int](size, 0, 0)
		for v := range uint64(size) {
			h.Publish(&Change[int]{Version: v + 1})
		}
		w, err := h.Watch(Scope{}, size, time.Time{}, nil)
		require.NoError(t, err)
		var lost atomic.Bool
		var writer sync.WaitGroup
		writer.Go(func() {
			h.Lose(size + 5)
			lost.Store(true)
		})
		bookmark := uint64(0)
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
				a, b := p.WatchLate(Scope{}, first, nil), p.WatchLate(Scope{Namespace: "ns"}, first, nil)
				a.Close()
				b.Close()
			}
		})
	}
	all.Wait()
	stop.Store(true)
	signals.Wait()
	assert.Zero(t, p.Watchers())
}

func TestHeadWaitsForTheLock(t *testing.T) {
	p := newHub(t, 8)
	whileItWaits(p, func() { p.Head() }, func() { assert.Nil(t, p.nextChange) })
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
