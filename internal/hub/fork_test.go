package hub

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fork returns the writer of a fork.
func (p *publisher) fork() *publisher {
	return &publisher{Hub: p.Fork(), t: p.t, version: p.version, now: p.now}
}

// world is a hub and its expected content, by version.
type world struct {
	*publisher
	name   string
	seed   uint64
	size   uint64
	holds  map[uint64]string // the payload of a change
	kept   []uint64          // the versions of the changes
	oldest uint64
}

func (w *world) fork(name string) *world {
	f := &world{publisher: w.publisher.fork(), name: name, seed: w.seed, size: w.size, holds: map[uint64]string{}, oldest: w.oldest}
	maps.Copy(f.holds, w.holds)
	f.kept = slices.Clone(w.kept)
	return f
}

// write makes n changes that tell whose they are, or lets as many versions pass.
func (w *world) write(n uint64, skip bool) {
	for range n {
		if skip {
			w.skip(1)
		} else {
			w.publish("ns", w.name)
			w.holds[w.version] = "ns/" + w.name
			w.kept = append(w.kept, w.version)
		}
	}
	for ; len(w.kept) > int(w.size); w.kept = w.kept[1:] {
		w.oldest = w.kept[0]
	}
}

// check compares the hub with its expected content.
func (w *world) check(t *testing.T) {
	t.Helper()
	require.Equal(t, w.oldest, w.Oldest(w.now), "%s, size %d, seed %d", w.name, w.size, w.seed)
	for v := max(first, w.oldest-64); v <= w.version+3; v++ {
		got, want := "", w.holds[v]
		if v <= w.oldest {
			want = ""
		}
		if c := w.Get(v); c != nil {
			got = c.Payload
		}
		if got != want {
			require.Equal(t, want, got, "%s, size %d, seed %d: version %d of %d, oldest %d", w.name, w.size, w.seed, v, w.version, w.oldest)
		}
	}
}

// Hubs that are forked from each other are held against plain maps.
func TestForkedHubsGoTheirOwnWays(t *testing.T) {
	for _, size := range []int{1, 7, 64, 65, 320} {
		for seed := range uint64(10) {
			rnd := rand.New(rand.NewPCG(seed, uint64(size)))
			worlds := []*world{{publisher: newHub(t, size), name: "w0", seed: seed, size: uint64(size), holds: map[uint64]string{}, oldest: first}}
			for op := range 60 {
				w := worlds[rnd.IntN(len(worlds))]
				switch rnd.IntN(8) {
				case 0, 1:
					if len(worlds) < 8 {
						worlds = append(worlds, w.fork(fmt.Sprint("w", len(worlds))))
					}
				case 2:
					w.write(rnd.Uint64N(5), true)
				case 3:
					if rnd.IntN(4) == 0 {
						w.Expire()
						w.oldest, w.kept = w.version, nil
					}
				default:
					w.write(rnd.Uint64N(64), false)
				}
				if op%10 == 0 {
					for _, w := range worlds {
						w.check(t)
					}
				}
			}
			for _, w := range worlds {
				w.check(t)
			}
		}
	}
}

func TestForkedHubForgetsByTheSameAge(t *testing.T) {
	p := newAgedHub(t, 10, time.Minute)
	p.publish("ns", "a") // 101
	f := p.fork()
	f.now = f.now.Add(2 * time.Minute)
	assert.EqualValues(t, 101, f.Oldest(f.now))
	f.publish("ns", "b") // drops 101
	assert.Nil(t, f.Get(101))
	assert.NotNil(t, p.Get(101), "the parent's time has not come")
}

func TestForkHasNoWatcherOfItsParent(t *testing.T) {
	p := newHub(t, 10)
	p.publish("ns", "a")
	w := p.watch(Scope{}, first)
	f := p.fork()
	assert.Zero(t, f.Readers())
	late := f.watch(Scope{}, first)
	f.publish("ns", "f")
	p.publish("ns", "p")
	p.publish("ns", "p")
	told := func(w *Reader[string]) (payloads []string) {
		changes, _, err := w.Poll(nil, math.MaxUint64)
		require.NoError(t, err)
		for _, c := range changes {
			payloads = append(payloads, c.Payload)
		}
		return payloads
	}
	assert.Equal(t, []string{"ns/a", "ns/p", "ns/p"}, told(w))
	assert.Equal(t, []string{"ns/a", "ns/f"}, told(late), "what was before the fork, then its own changes")
	version, ok := late.Settled()
	assert.True(t, ok)
	assert.EqualValues(t, first+2, version)
	p.Close()
	select {
	case <-f.Done():
		assert.Fail(t, "the parent's end is the end of its fork")
	default:
	}
	f.Close()
	<-f.Done()
}

// The readers of a hub, and of its forks, are promised the same while it is
// forked again and again.
func TestReadersMissNothingWhileForksAreMade(t *testing.T) {
	const writes, each, readers = 3000, 100, 3
	p := newHub(t, writes+each) // so that nobody expires
	var stop atomic.Bool
	var reading, forks sync.WaitGroup
	read := func(h *Hub[string], until func(*reader) bool, want func(got []uint64)) {
		r := &reader{h: h}
		r.w = h.Read(Scope{}, first)
		defer r.w.Close()
		for !until(r) {
			if !assert.NoError(t, r.step()) {
				return
			}
			runtime.Gosched()
		}
		want(r.got)
	}
	inARow := func(got []uint64) {
		for i, v := range got {
			if v != uint64(first+1+i) {
				assert.Fail(t, "a change is missing", "got version %d as change %d", v, i)
				return
			}
		}
	}
	for range readers {
		reading.Go(func() { read(p.Hub, func(*reader) bool { return stop.Load() }, inARow) })
	}
	for i := range writes {
		p.publish("ns", "a")
		if i%100 != 50 {
			continue
		}
		f := p.fork()
		forks.Go(func() {
			last := f.version + each
			for range 2 {
				reading.Go(func() {
					read(f.Hub, func(r *reader) bool { return r.last == last }, inARow)
				})
			}
			f.publishMany(each, "ns", "f")
		})
	}
	forks.Wait()
	stop.Store(true)
	reading.Wait()
	assert.Zero(t, p.Readers())
}

func BenchmarkFork(b *testing.B) {
	for _, size := range []int{4096, 1 << 20} {
		p := newHub(b, size)
		p.publishMany(2*size, "ns", "a")
		b.Run(fmt.Sprintf("history=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Fork()
			}
		})
		b.Run(fmt.Sprintf("history=%d/with a change on both sides", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f := p.fork()
				f.publish("ns", "f")
				p.publish("ns", "a")
			}
		})
	}
}
