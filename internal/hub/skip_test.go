package hub

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// skip passes over n versions.
func (p *publisher) skip(n uint64) {
	p.version += n
	p.Skip(p.version, p.version, p.now)
}

func TestWatchersPassOverSkippedVersions(t *testing.T) {
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
	versions, _ = poll(t, p.watch(Scope{Collection: noCollection}, first+7))
	assert.Empty(t, versions)
	settled, ok := all.Settled()
	assert.True(t, ok)
	assert.EqualValues(t, first+7, settled)
}

func TestSkippedVersionsTakeUpHistory(t *testing.T) {
	for _, size := range []uint64{1, 2, 7, 200} {
		for gap := range size + 3 {
			p := newHub(t, int(size))
			p.publish("ns", "a")
			p.skip(gap)
			p.publish("ns", "b")
			oldest := max(first, p.version-min(size, p.version))
			assert.Equal(t, oldest, p.Oldest(p.now), "size %d, gap %d", size, gap)
			for v := oldest + 1; v <= p.version; v++ {
				assert.NotNil(t, p.Get(v), "size %d, gap %d, version %d", size, gap, v)
			}
			assert.Nil(t, p.Get(oldest))
			w, err := p.Watch(Scope{}, first, p.now, nil)
			if gap+2 > size {
				assert.Equal(t, &ExpiredError{Requested: first, Oldest: oldest}, err, "size %d, gap %d", size, gap)
				continue
			}
			require.NoError(t, err)
			versions, _ := poll(t, w)
			assert.Equal(t, []uint64{first + 1, p.version}, versions)
		}
	}
}

func TestWatcherBehindALongGapExpires(t *testing.T) {
	p := newHub(t, 10)
	w := p.watch(Scope{}, first)
	p.publish("ns", "a")
	p.skip(1 << 40)
	_, _, err := w.Poll(nil, math.MaxUint64)
	assert.Equal(t, &ExpiredError{Requested: first, Oldest: p.version - 10}, err)
	next := p.watch(Scope{}, p.version)
	p.publish("ns", "b")
	versions, _ := poll(t, next)
	assert.Equal(t, []uint64{p.version}, versions)
}

// A writer that is about to leave a gap behind need not fill it.
func TestSkipLeavesOutEntriesThatWillBeOverwritten(t *testing.T) {
	p := newHub(t, 10)
	p.Skip(first+5, first+1000, p.now)
	assert.Nil(t, p.Get(first+5))
	w := p.watch(Scope{}, first)
	p.version = first + 5
	p.publish("ns", "a")
	_, _, err := w.Poll(nil, math.MaxUint64)
	assert.ErrorAs(t, err, new(*ExpiredError))
	p.Skip(first+1000, first+1000, p.now)
	assert.Nil(t, p.Get(first+990))
	assert.NotNil(t, p.Get(first+991))
	assert.EqualValues(t, first+990, p.Oldest(p.now))
}

func TestSkippedVersionsExpireByAge(t *testing.T) {
	p := newAgedHub(t, 10, time.Minute)
	p.skip(3)
	assert.EqualValues(t, first, p.Oldest(p.now))
	p.now = p.now.Add(time.Minute + time.Nanosecond)
	assert.EqualValues(t, first+3, p.Oldest(p.now))
	p.publish("ns", "a")
	assert.Nil(t, p.Get(first+3))
	assert.NotNil(t, p.Get(first+4))
}

func TestSkipWakesWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newHub(t, 10)
		done := make(chan error, 1)
		go func() { done <- p.WaitFor(t.Context(), first+2) }()
		synctest.Wait()
		p.skip(2)
		require.NoError(t, <-done)
	})
}
