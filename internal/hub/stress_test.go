package hub

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reader follows a scope and checks the promises to a watcher:
// each change once, in order, none missing, and no bookmark that lies.
type reader struct {
	h       *Hub[string]
	scope   Scope
	w       *Reader[string]
	last    uint64   // of the last change
	settled uint64   // the last bookmark
	got     []uint64 // versions since the start
}

var errLie = errors.New("a promise is broken")

// step polls once, and takes a bookmark if it may.
func (r *reader) step() error {
	changes, _, err := r.w.Poll(nil, math.MaxUint64)
	for _, c := range changes {
		switch {
		case c.Version <= r.last:
			return fmt.Errorf("%w: version %d after %d", errLie, c.Version, r.last)
		case c.Version <= r.settled:
			return fmt.Errorf("%w: version %d after a bookmark at %d", errLie, c.Version, r.settled)
		case !contains(r.scope, c):
			return fmt.Errorf("%w: %s is out of scope", errLie, c.Payload)
		}
		r.last = c.Version
		r.got = append(r.got, c.Version)
	}
	if err != nil {
		return err
	}
	if version, ok := r.w.Settled(); ok {
		if version < r.settled || version < r.last {
			return fmt.Errorf("%w: bookmark at %d after %d and version %d", errLie, version, r.settled, r.last)
		}
		r.settled = version
	}
	return nil
}

// published has the changes that were published in a scope, by version.
type published struct {
	mu sync.RWMutex
	by map[Scope][]uint64
}

func (p *published) add(c *Change[string]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range []Scope{{Collection: c.Collection}, {c.Collection, c.Namespace, ""}, {c.Collection, c.Namespace, c.Name}} {
		p.by[s] = append(p.by[s], c.Version)
	}
}

// between returns the versions of a scope above after, up to version.
func (p *published) between(s Scope, after, version uint64) (out []uint64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, v := range p.by[s] {
		if v > after && v <= version {
			out = append(out, v)
		}
	}
	return out
}

func hasPrefix(got, want []uint64) bool {
	return len(got) >= len(want) && slices.Equal(got[:len(want)], want)
}

var stressScopes = []Scope{{}, {Namespace: "a"}, {Namespace: "b"}, {Namespace: "a", Name: "x"}, {Namespace: "b", Name: "y"}, {Collection: 1}, {Namespace: "none"}}

func TestWatchersSeeEveryChangeWhileOthersComeAndGo(t *testing.T) {
	const writers, each, readers = 4, 1000, 6
	h := NewHub[string](Limits{Changes: 1 << 15}, first)
	all := &published{by: map[Scope][]uint64{}}
	var turn sync.Mutex // writers take turns
	version := uint64(first)
	var stop atomic.Bool
	var reading, writing sync.WaitGroup
	for i := range readers {
		reading.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 1))
			for !stop.Load() {
				r := &reader{h: h, scope: stressScopes[rnd.IntN(len(stressScopes))]}
				start := h.snapshot().head
				start -= min(start-first, uint64(rnd.IntN(50)))
				r.w = h.Read(r.scope, start)
				for range rnd.IntN(200) {
					if err := r.step(); !assert.NoError(t, err) {
						return
					}
					if rnd.IntN(3) == 0 {
						runtime.Gosched()
					}
				}
				r.w.Close()
				// A bookmark means that nothing up to it is missing.
				want := all.between(r.scope, start, r.settled)
				if !assert.True(t, hasPrefix(r.got, want), "scope %+v from %d to %d: got %d changes, want at least these %d",
					r.scope, start, r.settled, len(r.got), len(want)) {
					return
				}
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 2))
			for range each {
				turn.Lock()
				version++
				c := &Change[string]{Version: version, Collection: rnd.IntN(8) / 7, Namespace: []string{"a", "b"}[rnd.IntN(2)], Name: []string{"x", "y", "z"}[rnd.IntN(3)]}
				all.add(c) // before it is told to anybody
				h.Publish(c.Version, c)
				turn.Unlock()
			}
		})
	}
	writing.Wait()
	stop.Store(true)
	reading.Wait()
	assert.Zero(t, h.Readers())
}

// A small ring and slow readers: whoever is told that it expired has missed
// something, and whoever is not has missed nothing.
func TestExpiryAndNothingElseLosesChanges(t *testing.T) {
	const writes = 10_000
	h := NewHub[string](Limits{Changes: 16}, first)
	all := &published{by: map[Scope][]uint64{}}
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 3))
			for !stop.Load() {
				s := stressScopes[rnd.IntN(len(stressScopes))]
				start := h.snapshot().head
				w, err := h.Read(s, start), error(nil)
				r := &reader{h: h, scope: s, w: w}
				for err == nil && !stop.Load() {
					for range rnd.IntN(5) {
						runtime.Gosched()
					}
					err = r.step()
				}
				w.Close()
				assert.NotErrorIs(t, err, errLie)
				if want := all.between(s, start, r.last); !assert.True(t, slices.Equal(want, r.got),
					"scope %+v from %d to %d: got %d changes, want these %d", s, start, r.last, len(r.got), len(want)) {
					return
				}
			}
		})
	}
	rnd := rand.New(rand.NewPCG(9, 9))
	for v := uint64(first + 1); v <= first+writes; v++ {
		c := &Change[string]{Version: v, Namespace: []string{"a", "b"}[rnd.IntN(2)], Name: []string{"x", "y", "z"}[rnd.IntN(3)]}
		all.add(c)
		h.Publish(c.Version, c)
		if v%64 == 0 {
			runtime.Gosched()
		}
	}
	stop.Store(true)
	wg.Wait()
	require.Zero(t, h.Readers())
}

// A watch that starts in history while a change of its scope is on its way.
func TestWatchFromHistoryMissesNothingWhileAWriterWrites(t *testing.T) {
	const writes = 30_000
	p := newHub(t, writes)
	p.publishMany(10, "ns", "a")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for head := uint64(0); head < first+writes; {
				head = p.snapshot().head
				w := p.Read(Scope{Namespace: "ns"}, head-3)
				changes, _, err := w.Poll(nil, math.MaxUint64)
				w.Close()
				if !assert.NoError(t, err) || !assert.NotEmpty(t, changes) ||
					!assert.Equal(t, head-2, changes[0].Version, "the first change that is wanted") {
					return
				}
			}
		})
	}
	p.publishMany(writes-10, "ns", "a")
	wg.Wait()
}

// After two changes in its scope the watcher has read everything; what then
// happens elsewhere must not expire it, however the two were met.
func TestWatcherThatReadEverythingDoesNotExpire(t *testing.T) {
	p := newHub(t, 8)
	w := p.watch(Scope{Namespace: "ns"}, first)
	start, done := make(chan uint64), make(chan error)
	go func() {
		for target := range start {
			var err error
			for last := uint64(0); last < target && err == nil; {
				var changes []*Change[string]
				changes, _, err = w.Poll(nil, math.MaxUint64)
				for _, c := range changes {
					last = c.Version
				}
				if len(changes) == 0 {
					runtime.Gosched()
				}
			}
			done <- err
		}
	}()
	defer close(start)
	for round := range 2_000 {
		start <- p.version + 5
		p.publishMany(5, "ns", "a")
		require.NoError(t, <-done)
		p.publishMany(16, "other", "a")
		changes, _, err := w.Poll(nil, math.MaxUint64)
		require.NoError(t, err, "round %d", round)
		require.Empty(t, changes)
	}
}
