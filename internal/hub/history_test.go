package hub

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
)

func TestRingHoldsOneChangeAtLeast(t *testing.T) {
	for _, size := range []int{-1, 0} {
		p := newHub(t, size)
		p.publishMany(2, "ns", "a")
		assert.NotNil(t, p.Get(p.version))
		assert.Equal(t, p.version-1, p.Oldest(p.now))
	}
}

func TestRingStartsBelowItsSize(t *testing.T) {
	h := &publisher{Hub: NewHub[string](Limits{Changes: 10}, 0)}
	assert.EqualValues(t, 0, h.Oldest(time.Time{}))
	for v := range uint64(15) {
		h.Publish(v+1, &Change[string]{Version: v + 1})
	}
	assert.EqualValues(t, 5, h.Oldest(time.Time{}))
	assert.Nil(t, h.Get(5))
	assert.NotNil(t, h.Get(6))
}

func TestRingForgetsByAge(t *testing.T) {
	p := newAgedHub(t, 10, time.Minute)
	p.publish("ns", "a") // 101
	p.now = p.now.Add(30 * time.Second)
	p.publish("ns", "a") // 102
	p.now = p.now.Add(30 * time.Second)
	assert.EqualValues(t, 100, p.Oldest(p.now), "a minute old is not too old")
	p.now = p.now.Add(time.Nanosecond)
	assert.EqualValues(t, 101, p.Oldest(p.now), "it expires without a write")
	assert.NotNil(t, p.Get(101), "but is let go only by the next one")
	p.publish("ns", "a") // 103
	assert.Nil(t, p.Get(101))
	assert.NotNil(t, p.Get(102))
	p.now = p.now.Add(time.Hour)
	assert.EqualValues(t, 103, p.Oldest(p.now), "all changes are too old, the present is not")
	p.publish("ns", "a") // 104
	assert.Nil(t, p.Get(103))
	assert.NotNil(t, p.Get(104), "a change is younger than itself")
	assert.EqualValues(t, 103, p.Oldest(p.now))
}

// The slice of a history is longer than the history: it may hold a quarter more.
func TestChangesThatLeftTheHistoryAreFreed(t *testing.T) {
	p := newHub(t, 64)
	c := p.next("ns", "a")
	gone := weak.Make(c)
	p.Publish(c.Version, c)
	c = nil
	p.publishMany(64+64/4+17, "ns", "a")
	runtime.GC()
	assert.Nil(t, gone.Value())
	assert.LessOrEqual(t, cap(p.history.changes), 64+64/4+17)
}

func TestRingWithoutLimitsForgetsNothing(t *testing.T) {
	p := newHub(t, 10)
	for range 5 {
		c := p.next("ns", "a")
		c.Size = 1 << 40
		p.Publish(c.Version, c)
		p.now = p.now.Add(1000 * time.Hour)
	}
	assert.EqualValues(t, first, p.Oldest(p.now))
	assert.NotNil(t, p.Get(first+1))
}

func TestRingIsLimitedByCountAndByAge(t *testing.T) {
	p := newAgedHub(t, 3, time.Minute)
	p.publishMany(10, "ns", "a")
	assert.EqualValues(t, p.version-3, p.Oldest(p.now))
	p.now = p.now.Add(time.Hour)
	p.publish("ns", "a")
	assert.EqualValues(t, p.version-1, p.Oldest(p.now))
	p.publishMany(10, "ns", "a")
	assert.EqualValues(t, p.version-3, p.Oldest(p.now))
}

func TestClockThatGoesBackLosesNothing(t *testing.T) {
	p := newAgedHub(t, 10, time.Minute)
	p.publish("ns", "a")
	p.now = p.now.Add(-time.Hour)
	p.publishMany(3, "ns", "a")
	assert.EqualValues(t, first, p.Oldest(p.now))
	assert.NotNil(t, p.Get(101))
}

func TestExpireLetsGoOfAllChangesAndHistoryGoesOn(t *testing.T) {
	for _, size := range []int{1, 3, 64, 65, 200} {
		p := newHub(t, size)
		p.Expire()
		assert.EqualValues(t, first, p.Oldest(p.now), "there was nothing to let go of")
		p.publishMany(2*size, "ns", "a")
		p.Expire()
		assert.Equal(t, p.version, p.Oldest(p.now), "size %d", size)
		for v := uint64(first); v <= p.version; v++ {
			assert.Nil(t, p.Get(v), "size %d, version %d", size, v)
		}
		p.publish("ns", "a")
		assert.NotNil(t, p.Get(p.version))
		assert.Equal(t, p.version-1, p.Oldest(p.now), "size %d", size)
		p.publishMany(2*size, "ns", "a")
		assert.Equal(t, p.version-uint64(size), p.Oldest(p.now), "size %d", size)
	}
}

func TestRingIsLimitedByBytes(t *testing.T) {
	p := newBytesHub(t, 10, 100)
	sizes := func(sizes ...int64) {
		for _, size := range sizes {
			c := p.next("ns", "a")
			c.Size = size
			p.Publish(c.Version, c)
		}
	}
	kept := func() int { return int(p.version - p.Oldest(p.now)) }
	sizes(40, 40, 20)
	assert.Equal(t, 3, kept(), "exactly the limit")
	sizes(1)
	assert.Equal(t, 3, kept())
	assert.Nil(t, p.Get(first+1))
	sizes(1000)
	assert.Equal(t, 1, kept(), "the last change is kept, whatever its size")
	for range 300 {
		sizes(9)
	}
	assert.Equal(t, 10, kept(), "the count bounds small changes")
	sizes(10, 10, 10, 10, 10, 10, 10, 10, 10, 10)
	assert.Equal(t, 10, kept(), "sizes of changes that are gone do not count")
	sizes(41)
	assert.Equal(t, 6, kept())

	f := p.Fork()
	for range 3 {
		c := p.next("ns", "a")
		c.Size = 50
		f.Publish(c.Version, c)
	}
	assert.EqualValues(t, p.version-2, f.Oldest(p.now), "a fork has the limit too")
	assert.NotNil(t, p.Get(p.version-3))

	p = newBytesHub(t, 10, 100)
	sizes(60)
	p.skip(5)
	sizes(60)
	assert.Equal(t, 6, kept(), "skipped versions take no bytes")
}
