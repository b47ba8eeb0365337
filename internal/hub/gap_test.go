package hub

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// skip passes over n versions.
func (p *publisher) skip(n uint64) {
	p.version += n
	p.Publish(p.version)
}

// publishAll publishes changes of one version.
func (p *publisher) publishAll(names ...string) {
	p.version++
	var all []*Change[string]
	for _, name := range names {
		all = append(all, &Change[string]{Version: p.version, Namespace: "ns", Name: name, At: p.now, Payload: name})
	}
	p.Publish(p.version, all...)
}

func TestWatchersPassOverGaps(t *testing.T) {
	p := newHub(t, 10)
	all, late := p.watch(Scope{}, first), p.watch(Scope{}, first+3)
	p.publish("ns", "a") // 101
	p.skip(5)            // to 106
	p.publish("ns", "b") // 107
	versions, _ := poll(t, all)
	assert.Equal(t, []uint64{first + 1, first + 7}, versions)
	versions, _ = poll(t, late)
	assert.Equal(t, []uint64{first + 7}, versions, "it started in the middle of the gap")
	versions, _ = poll(t, p.watch(Scope{}, first))
	assert.Equal(t, []uint64{first + 1, first + 7}, versions)
	settled, ok := all.Settled()
	assert.True(t, ok)
	assert.EqualValues(t, first+7, settled)
	p.skip(3)
	settled, ok = all.Settled()
	assert.True(t, ok)
	assert.EqualValues(t, first+10, settled, "a bookmark may name a version without a change")
}

func TestGapsTakeNoHistory(t *testing.T) {
	for _, size := range []uint64{1, 2, 7, 200} {
		for _, gap := range []uint64{0, 1, size, size + 3, 1 << 40} {
			p := newHub(t, int(size))
			p.publish("ns", "a")
			p.skip(gap)
			p.publish("ns", "b")
			if size == 1 {
				assert.EqualValues(t, first+1, p.Oldest(p.now))
				assert.Nil(t, p.Get(first+1))
				continue
			}
			assert.EqualValues(t, first, p.Oldest(p.now), "size %d, gap %d", size, gap)
			versions, _ := poll(t, p.watch(Scope{}, first))
			assert.Equal(t, []uint64{first + 1, p.version}, versions, "size %d, gap %d", size, gap)
		}
	}
}

func TestChangesBeforeAGapExpireByAge(t *testing.T) {
	p := newAgedHub(t, 10, time.Minute)
	p.publish("ns", "a")
	p.skip(3)
	p.now = p.now.Add(time.Minute + time.Nanosecond)
	assert.EqualValues(t, first+1, p.Oldest(p.now))
	p.publish("ns", "a")
	assert.Nil(t, p.Get(first+1))
	assert.NotNil(t, p.Get(p.version))
}

func TestGapsWakeWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newHub(t, 10)
		done := make(chan error, 1)
		go func() { done <- p.WaitFor(t.Context(), first+2) }()
		synctest.Wait()
		p.publish("ns", "a")
		synctest.Wait()
		assert.Empty(t, done)
		p.skip(2) // past the version, which nothing has
		require.NoError(t, <-done)
		assert.Empty(t, p.waiters)
	})
}

func TestChangesOfOneVersionComeTogether(t *testing.T) {
	p := newHub(t, 3)
	all, one := p.watch(Scope{}, first), p.watch(Scope{Namespace: "ns", Name: "c"}, first)
	p.publishAll("a", "b", "c")
	versions, more := poll(t, all)
	assert.Equal(t, []uint64{first + 1, first + 1, first + 1}, versions)
	assert.False(t, more)
	versions, _ = poll(t, one)
	assert.Equal(t, []uint64{first + 1}, versions)
	versions, _ = poll(t, p.watch(Scope{}, first+1))
	assert.Empty(t, versions, "all of the version are behind")
	p.publish("ns", "d") // takes the place of the first one
	assert.EqualValues(t, first+1, p.Oldest(p.now), "the version is gone as a whole")
	_, _, err := p.Read(Scope{}, first).Poll(nil, math.MaxUint64)
	assert.Equal(t, &ExpiredError{Requested: first, Oldest: first + 1}, err)
	versions, _ = poll(t, all)
	assert.Equal(t, []uint64{first + 2}, versions)
	p.publishAll("a", "b", "c", "d", "e")
	_, _, err = all.Poll(nil, math.MaxUint64)
	assert.Equal(t, &ExpiredError{Requested: first + 2, Oldest: first + 3}, err, "one version is more than the history")
}

func TestABatchDoesNotDivideAVersion(t *testing.T) {
	p := newHub(t, 4*batchSize)
	w := p.watch(Scope{}, first)
	p.publishMany(batchSize-1, "ns", "a")
	p.publishAll("a", "b", "c")
	p.publish("ns", "a")
	versions, more := poll(t, w)
	assert.Len(t, versions, batchSize+2)
	assert.True(t, more)
	versions, more = poll(t, w)
	assert.Equal(t, []uint64{p.version}, versions)
	assert.False(t, more)
}

func TestChangesReturnsAPartOfTheHistory(t *testing.T) {
	p := newHub(t, 4)
	p.publish("ns", "a")    // 101
	p.skip(2)               // to 103
	p.publishAll("a", "b")  // 104
	p.skip(1)               // to 105
	p.publish("ns", "last") // 106
	for _, tt := range []struct {
		after, until uint64
		want         []uint64
	}{
		{100, 106, []uint64{101, 104, 104, 106}},
		{101, 105, []uint64{104, 104}},
		{103, 104, []uint64{104, 104}},
		{104, 106, []uint64{106}},
		{101, 103, nil},
		{106, 106, nil},
		{106, 200, nil},
		{106, 101, nil},
		{200, 101, nil},
	} {
		got, complete := p.Changes(tt.after, tt.until)
		assert.True(t, complete)
		assert.Equal(t, tt.want, versionsOf(got), "%d to %d", tt.after, tt.until)
	}
	before, _ := p.Changes(100, 106)
	p.publish("ns", "b") // 107 in place of 101
	assert.EqualValues(t, 101, before[0].Version, "the part stays as it was")
	_, complete := p.Changes(100, 107)
	assert.False(t, complete)
	_, complete = p.Changes(101, 107)
	assert.True(t, complete)
}

// The search is held against a walk over all changes.
func TestPositionsAmongGaps(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		p := newHub(t, 1+rnd.IntN(40))
		var versions []uint64
		for range 60 {
			switch rnd.IntN(4) {
			case 0:
				p.skip(rnd.Uint64N(5))
			case 1:
				p.publishAll("a", "b")
				versions = append(versions, p.version, p.version)
			default:
				p.publish("ns", "a")
				versions = append(versions, p.version)
			}
		}
		for version := p.Oldest(p.now); version < p.version+2; version++ {
			var want []uint64
			for _, v := range versions {
				if v > version {
					want = append(want, v)
				}
			}
			got, complete := p.Changes(version, math.MaxUint64)
			require.True(t, complete, "seed %d, version %d", seed, version)
			require.Equal(t, want, versionsOf(got), "seed %d, version %d", seed, version)
		}
		if oldest := p.Oldest(p.now); oldest > first {
			_, complete := p.Changes(oldest-1, math.MaxUint64)
			require.False(t, complete, "seed %d", seed)
		}
	}
}
