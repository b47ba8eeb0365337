package hub

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryWatcherExpiresWhenChangesAreLost(t *testing.T) {
	p := newHub(t, 10)
	p.publish("ns", "a") // 101
	idle, behind := p.watch(Scope{}, first+1), p.watch(Scope{}, first)
	other, future := p.watch(Scope{Namespace: "other"}, first+1), p.watch(Scope{}, first+1000)
	for _, w := range []*Reader[string]{idle, other, future} {
		_, _, err := w.Poll(nil, math.MaxUint64)
		require.NoError(t, err)
		woken(w)
	}
	p.Lose(first + 50)
	p.version = first + 50
	p.publish("ns", "b")
	for name, w := range map[string]*Reader[string]{"idle": idle, "behind": behind, "other": other, "future": future} {
		assert.True(t, woken(w), name)
		_, ok := w.Settled()
		assert.False(t, ok, "%s: a bookmark would hide the loss", name)
		for range 2 {
			changes, _, err := w.Poll(nil, math.MaxUint64)
			assert.ErrorAs(t, err, new(*ExpiredError), name)
			assert.Empty(t, changes)
		}
	}
	_, _, err := idle.Poll(nil, math.MaxUint64)
	assert.Equal(t, &ExpiredError{Requested: first + 1, Oldest: first + 50}, err)
	assert.EqualValues(t, first+50, p.Oldest(p.now))
	_, _, err = p.Read(Scope{}, first+49).Poll(nil, math.MaxUint64)
	assert.Equal(t, &ExpiredError{Requested: first + 49, Oldest: first + 50}, err)
	versions, _ := poll(t, p.watch(Scope{}, first+50))
	assert.Equal(t, []uint64{first + 51}, versions)
}

func TestHistoryMayGoBackWhenItIsLost(t *testing.T) {
	p := newHub(t, 10)
	p.publishMany(5, "ns", "a")
	w := p.watch(Scope{}, first+5)
	p.Lose(first + 2)
	p.version = first + 2
	p.publish("ns", "b")
	assert.EqualValues(t, first+2, p.Oldest(p.now))
	assert.True(t, woken(w), "it has to see that changes were lost")
	versions, _ := poll(t, p.watch(Scope{}, first+2))
	assert.Equal(t, []uint64{first + 3}, versions)
}

// A watcher that begins while changes are lost expires, or sees all that comes after.
func TestLossesAndNewWatchers(t *testing.T) {
	for attempt := range 5000 {
		h := NewHub[int](Limits{Changes: 64}, 0)
		for v := range uint64(64) {
			h.Publish(v+1, &Change[int]{Version: v + 1})
		}
		var writer sync.WaitGroup
		ready := make(chan struct{})
		writer.Go(func() {
			close(ready)
			h.Lose(70)
		})
		<-ready
		for range attempt % 32 { // meet at different places
			h.Readers()
		}
		w := h.Read(Scope{}, 64)
		_, _, err := w.Poll(nil, 65)
		writer.Wait()
		if err == nil {
			_, ok := w.Settled()
			require.False(t, ok, "attempt %d", attempt)
			_, _, err = w.Poll(nil, math.MaxUint64)
		}
		require.ErrorAs(t, err, new(*ExpiredError), "attempt %d", attempt)
	}
}
