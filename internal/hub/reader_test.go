package hub

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOnlyChangesOfItsScopeWakeTheWatcher(t *testing.T) {
	p := newHub(t, 4)
	w := p.watch(Scope{Namespace: "ns", Name: "a"}, first)
	p.publishMany(9, "ns", "b") // more than the history
	assert.False(t, woken(w))
	version, ok := w.Settled()
	assert.Equal(t, uint64(109), version)
	assert.True(t, ok)
	p.publish("ns", "a")
	p.publish("ns", "b")
	assert.True(t, woken(w))
	got, _ := poll(t, w)
	assert.Equal(t, []uint64{110}, got)
	p.publish("ns", "b")
	assert.False(t, woken(w))
}

func TestPollAppends(t *testing.T) {
	p := newHub(t, 16)
	w := p.watch(Scope{}, first)
	p.publish("ns", "a")
	kept := &Change[string]{Version: 7}
	changes, _, err := w.Poll([]*Change[string]{kept}, math.MaxUint64)
	require.NoError(t, err)
	assert.Equal(t, []uint64{7, 101}, versionsOf(changes))
}

func TestWatchStartsAfterItsVersion(t *testing.T) {
	for name, row := range map[string]struct {
		after uint64
		want  []uint64
		woken bool
	}{
		"in history":           {102, []uint64{103, 105}, true},
		"before all":           {first, []uint64{101, 103, 105}, true},
		"before another's one": {103, []uint64{105}, true},
		"now":                  {105, nil, false},
		"in the future":        {107, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHub(t, 16)
			for i := range 5 {
				p.publish([]string{"ns", "other"}[i%2], "a")
			}
			w := p.watch(Scope{Namespace: "ns"}, row.after)
			assert.Equal(t, row.woken, woken(w))
			got, _ := poll(t, w)
			assert.Equal(t, row.want, got)
			p.publishMany(4, "ns", "a") // up to 109
			var want []uint64
			for v := max(row.after, 105) + 1; v <= 109; v++ {
				want = append(want, v)
			}
			got, _ = poll(t, w)
			assert.Equal(t, want, got)
		})
	}
}

func TestPollReturnsABatchAtMost(t *testing.T) {
	p := newHub(t, 8*batchSize)
	w := p.watch(Scope{Namespace: "ns"}, first)
	for range 2*batchSize + 3 {
		p.publish("ns", "a")
		p.publish("other", "a")
	}
	var all []uint64
	for i, want := range []int{batchSize, batchSize, 3} {
		got, more := poll(t, w)
		assert.Len(t, got, want)
		assert.Equal(t, i < 2, more)
		all = append(all, got...)
		_, settled := w.Settled()
		assert.Equal(t, !more, settled)
		if more {
			assert.Equal(t, got[len(got)-1], w.SettledUntil(math.MaxUint64))
		}
	}
	assert.True(t, slices.IsSorted(all))
	assert.Len(t, slices.Compact(all), 2*batchSize+3)
}

// A watcher that is not read must not keep a batch of large objects.
func TestPollReturnsFewLargeChanges(t *testing.T) {
	p := newHub(t, batchSize)
	w := p.watch(Scope{}, first)
	for range 5 {
		c := p.next("ns", "a")
		c.Size = batchBytes / 2
		p.Publish(c.Version, c)
	}
	for i, want := range []int{2, 2, 1} {
		got, more := poll(t, w)
		assert.Len(t, got, want)
		assert.Equal(t, i < 2, more)
	}
}

func TestExactlyABatchHasNoMore(t *testing.T) {
	p := newHub(t, 2*batchSize)
	w := p.watch(Scope{}, first)
	p.publishMany(batchSize, "ns", "a")
	got, more := poll(t, w)
	assert.Len(t, got, batchSize)
	assert.False(t, more)
}

func TestWatcherMayExpireBetweenTwoBatches(t *testing.T) {
	p := newHub(t, 2*batchSize)
	w := p.watch(Scope{}, first)
	p.publishMany(2*batchSize, "ns", "a")
	_, more := poll(t, w)
	require.True(t, more)
	p.publishMany(2*batchSize, "other", "a")
	_, _, err := w.Poll(nil, math.MaxUint64)
	require.Error(t, err)
}

func TestIdleWatcherDoesNotExpireByAge(t *testing.T) {
	p := newAgedHub(t, 1000, time.Minute)
	w := p.watch(Scope{Namespace: "ns"}, first)
	p.publish("other", "a")
	p.now = p.now.Add(time.Hour)
	p.publish("ns", "a")
	got, _ := poll(t, w)
	assert.Equal(t, []uint64{102}, got)
}

func TestSettledIsAVersionThatWasRead(t *testing.T) {
	p := newHub(t, 16)
	w := p.watch(Scope{Namespace: "ns"}, first)
	settled := func() any {
		if version, ok := w.Settled(); ok {
			return version
		}
		return nil
	}
	assert.EqualValues(t, 100, settled())
	p.publish("other", "a")
	assert.EqualValues(t, 101, settled(), "what is out of scope needs no reading")
	p.publish("ns", "a")
	assert.Nil(t, settled(), "there is something to read")
	poll(t, w)
	assert.EqualValues(t, 102, settled())
	p.publishMany(100, "other", "a")
	assert.EqualValues(t, 202, settled())
}

func TestSettledOfAWatchInHistoryWaitsForItToBeRead(t *testing.T) {
	p := newHub(t, 16)
	p.publishMany(3, "ns", "a")
	w := p.watch(Scope{Namespace: "ns"}, first+1)
	_, ok := w.Settled()
	assert.False(t, ok)
	poll(t, w)
	version, ok := w.Settled()
	assert.True(t, ok)
	assert.EqualValues(t, 103, version)
}

func TestSettledNeverGoesBack(t *testing.T) {
	p := newHub(t, 16)
	w := p.watch(Scope{}, first+50)
	version, ok := w.Settled()
	assert.True(t, ok)
	assert.EqualValues(t, 150, version, "nothing up to there is wanted")
	p.publish("ns", "a")
	got, _ := poll(t, w)
	assert.Empty(t, got)
	version, _ = w.Settled()
	assert.EqualValues(t, 150, version)
}

func TestExpireSparesWatchersThatHaveSeenAll(t *testing.T) {
	p := newHub(t, 10)
	here := p.watch(Scope{Namespace: "ns"}, first)
	lagging := p.watch(Scope{Namespace: "ns"}, first)
	elsewhere := p.watch(Scope{Namespace: "other"}, first)
	p.publish("ns", "a")
	_, _ = poll(t, here)
	p.Expire()
	_, _, err := lagging.Poll(nil, math.MaxUint64)
	require.Equal(t, &ExpiredError{Requested: first, Oldest: first + 1}, err)
	for _, w := range []*Reader[string]{here, elsewhere} {
		versions, _ := poll(t, w)
		assert.Empty(t, versions)
	}
	_, _, err = p.Read(Scope{}, first).Poll(nil, math.MaxUint64)
	assert.Equal(t, &ExpiredError{Requested: first, Oldest: first + 1}, err)
	p.publish("ns", "b")
	p.publish("other", "a")
	versions, _ := poll(t, here)
	assert.Equal(t, []uint64{first + 2}, versions)
	versions, _ = poll(t, elsewhere)
	assert.Equal(t, []uint64{first + 3}, versions)
	versions, _ = poll(t, p.watch(Scope{}, first+1))
	assert.Equal(t, []uint64{first + 2, first + 3}, versions, "the version it expired at is still good")
}

// A reader that is busy for long is passed over, and misses nothing.
func TestReaderIsMarkedOnceUntilItPolls(t *testing.T) {
	p := newHub(t, 10)
	w := p.watch(Scope{}, first)
	p.publishMany(3, "ns", "a")
	assert.EqualValues(t, 101, w.marked)
	assert.Equal(t, 1, p.Readers(), "it is still there")
	require.True(t, woken(w))
	assert.False(t, woken(w))
	versions, _ := poll(t, w)
	assert.Equal(t, []uint64{101, 102, 103}, versions)
	p.publish("ns", "a") // 104
	require.True(t, woken(w))
	versions, _ = poll(t, w)
	assert.Equal(t, []uint64{104}, versions)

	p.publishMany(11, "ns", "a")
	_, _, err := w.Poll(nil, math.MaxUint64)
	assert.ErrorAs(t, err, new(*ExpiredError), "the history was shorter than its work")
	w.Close()
	assert.Empty(t, p.groups)
}

// A reader that is marked may be closed.
func TestMarkedReaderIsClosed(t *testing.T) {
	p := newHub(t, 10)
	w, other := p.watch(Scope{}, first), p.watch(Scope{}, first)
	p.publish("ns", "a")
	w.Close()
	poll(t, other)
	w.Close()
	assert.Equal(t, 1, p.Readers())
	assert.Equal(t, []*Reader[string]{other}, p.groups[Scope{}])
}
