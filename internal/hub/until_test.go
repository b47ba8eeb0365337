package hub

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// until returns the versions that one PollUntil finds.
func until(t testing.TB, w *Reader[string], last uint64) []uint64 {
	t.Helper()
	changes, more, err := w.Poll(nil, last)
	require.NoError(t, err)
	require.False(t, more)
	return versionsOf(changes)
}

func TestPollHoldsBackLaterChanges(t *testing.T) {
	p := newHub(t, 16)
	w := p.watch(Scope{Namespace: "ns"}, first)
	for range 4 {
		p.publish("ns", "a")
		p.publish("other", "a")
	}
	for _, row := range []struct {
		last    uint64
		want    []uint64
		settled uint64
	}{
		{100, nil, 100}, {101, []uint64{101}, 101}, {101, nil, 101}, {102, nil, 102}, {104, []uint64{103}, 104},
		{103, nil, 103}, {106, []uint64{105}, 106}, {200, []uint64{107}, 108}, {200, nil, 108},
	} {
		assert.Equal(t, row.want, until(t, w, row.last), "until %d", row.last)
		assert.Equal(t, row.settled, w.SettledUntil(row.last), "until %d", row.last)
	}
	p.publish("ns", "b")
	assert.True(t, woken(w))
	assert.Equal(t, uint64(108), w.SettledUntil(200), "there is more")
	assert.Equal(t, []uint64{109}, until(t, w, 109))
}

func TestChangesThatWereHeldBackMayExpire(t *testing.T) {
	p := newHub(t, 4)
	w := p.watch(Scope{}, first)
	p.publish("ns", "a")
	assert.Equal(t, []uint64{101}, until(t, w, 101))
	p.publishMany(5, "ns", "a")
	assert.Empty(t, until(t, w, 101), "as long as nothing is asked for, nothing is missing")
	_, _, err := w.Poll(nil, 200)
	require.EqualError(t, err, "too old resource version: 101 (102)")
}

func TestChangesOfOthersThatWereHeldBackDoNotExpire(t *testing.T) {
	p := newHub(t, 4)
	w := p.watch(Scope{Namespace: "ns", Name: "a"}, first)
	p.publish("ns", "a")
	p.publish("ns", "b")
	p.publish("ns", "b")
	p.publish("ns", "a")
	assert.Equal(t, []uint64{101}, until(t, w, 101))
	p.publishMany(2, "ns", "b")
	assert.Equal(t, []uint64{104}, until(t, w, 106), "102 has left the history")
}

func TestLateWatchExpiresWhenItAsks(t *testing.T) {
	p := newHub(t, 4)
	p.publishMany(6, "ns", "a")
	w := p.Read(Scope{}, 101)
	defer w.Close()
	assert.Empty(t, until(t, w, 101))
	_, _, err := w.Poll(nil, math.MaxUint64)
	require.EqualError(t, err, "too old resource version: 101 (102)")
}

func TestNextChangeClosesTheChannelOfHead(t *testing.T) {
	p := newHub(t, 4)
	head, grown := p.Head()
	assert.Equal(t, uint64(first), head)
	select {
	case <-grown:
		assert.Fail(t, "nothing has come")
	default:
	}
	_, also := p.Head()
	p.publish("ns", "a")
	for _, ch := range []<-chan struct{}{grown, also} {
		select {
		case <-ch:
		default:
			assert.Fail(t, "a change has come")
		}
	}
	head, grown = p.Head()
	assert.Equal(t, uint64(101), head)
	p.publish("ns", "a")
	<-grown
	p.publish("ns", "a") // nobody waits for it
}

func TestWatcherThatHoldsChangesBackIsWokenForLaterOnes(t *testing.T) {
	p := newHub(t, 16)
	w := p.watch(Scope{}, first)
	p.publishMany(4, "ns", "a")
	require.True(t, woken(w))
	assert.Equal(t, []uint64{101}, until(t, w, 101))
	assert.False(t, woken(w))
	p.publish("ns", "a")
	assert.True(t, woken(w))
}

// The changes of others tell up to where nothing is missing.
func TestWatcherThatHoldsChangesBackPassesOverThoseOfOthers(t *testing.T) {
	for _, held := range []uint64{101, 102, 103} {
		p := newHub(t, 4)
		w := p.watch(Scope{Namespace: "ns"}, first)
		p.publish("ns", "a")
		p.publishMany(2, "other", "a")
		p.publish("ns", "a")
		assert.Equal(t, []uint64{101}, until(t, w, held))
		p.publishMany(5, "other", "a") // 104 leaves the history
		assert.Empty(t, until(t, w, 103), "first until %d", held)
	}
}

func TestWatcherThatHasReadUpToTheHeadDoesNotExpire(t *testing.T) {
	p := newHub(t, 4)
	w := p.watch(Scope{Namespace: "ns"}, first)
	p.publish("ns", "a")
	assert.Equal(t, []uint64{101}, until(t, w, 101))
	p.publishMany(9, "other", "a")
	assert.Empty(t, until(t, w, 110))
}

func TestSettledStaysWhereItIsIfLessIsAskedFor(t *testing.T) {
	p := newHub(t, 16)
	w := p.watch(Scope{}, first)
	p.publishMany(4, "ns", "a")
	until(t, w, 103)
	until(t, w, 102)
	assert.EqualValues(t, 103, w.SettledUntil(200))
}
