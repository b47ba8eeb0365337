package hub

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWaitForEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newHub(t, 4)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, p.WaitFor(ctx, 101), context.DeadlineExceeded)
		assert.Empty(t, p.waiters)
		p.publish("ns", "a")
		require.NoError(t, p.WaitFor(ctx, 101), "what is there is there, whatever the context")
	})
}

func TestWaitForEndsWithTheHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newHub(t, 4)
		done := make(chan error)
		go func() { done <- p.WaitFor(t.Context(), 101) }()
		synctest.Wait()
		p.Close()
		require.ErrorIs(t, <-done, ErrClosed)
		require.ErrorIs(t, p.WaitFor(t.Context(), 101), ErrClosed)
		assert.Empty(t, p.waiters)
		<-p.Done()
	})
}

func TestWatchersAreCounted(t *testing.T) {
	p := newHub(t, 4)
	scopes := []Scope{{}, {Collection: 1}, {Namespace: "ns"}, {Namespace: "ns", Name: "a"}, {}, {}}
	var open []*Reader[string]
	for i, s := range scopes {
		open = append(open, p.watch(s, first))
		assert.Equal(t, i+1, p.Readers())
	}
	// In an order that takes first, middle and last of a group.
	for i, n := range []int{4, 0, 2, 5, 1, 3} {
		open[n].Close()
		open[n].Close()
		assert.Equal(t, len(scopes)-1-i, p.Readers())
	}
	assert.Empty(t, p.groups, "no group is left behind")
	p.publish("ns", "a")
}

func TestWatchersSeeChangesAfterOthersWereClosed(t *testing.T) {
	p := newHub(t, 16)
	var open []*Reader[string]
	for range 5 {
		open = append(open, p.watch(Scope{}, first))
	}
	for _, n := range []int{0, 3, 4} {
		open[n].Close()
	}
	for _, w := range p.groups[Scope{}][2:5] {
		assert.Nil(t, w, "nothing keeps a watcher that was closed")
	}
	p.publish("ns", "a")
	for n, w := range open {
		assert.Equal(t, n == 1 || n == 2, woken(w), "watcher %d", n)
	}
}

func TestOnlyThoseConcernedAreWoken(t *testing.T) {
	p := newHub(t, 16)
	all, other := p.watch(Scope{}, first), p.watch(Scope{Collection: 1}, first)
	namespace, elsewhere := p.watch(Scope{Namespace: "ns"}, first), p.watch(Scope{Namespace: "other"}, first)
	one, another := p.watch(Scope{Namespace: "ns", Name: "a"}, first), p.watch(Scope{Namespace: "ns", Name: "b"}, first)
	p.publish("ns", "a")
	for _, w := range []*Reader[string]{all, namespace, one} {
		assert.True(t, woken(w), "%+v", w.scope)
		got, _ := poll(t, w)
		assert.Equal(t, []uint64{101}, got)
	}
	for _, w := range []*Reader[string]{other, elsewhere, another} {
		assert.False(t, woken(w), "%+v", w.scope)
		got, _ := poll(t, w)
		assert.Empty(t, got)
	}
	p.version++
	p.Publish(p.version, &Change[string]{Version: p.version, Collection: 1, Namespace: "ns", Name: "a"})
	for _, w := range []*Reader[string]{all, namespace, one, elsewhere, another} {
		assert.False(t, woken(w), "%+v", w.scope)
	}
	assert.True(t, woken(other))
	for _, s := range []Scope{{1, "ns", ""}, {1, "ns", "a"}} {
		w := p.watch(s, p.version)
		p.version++
		p.Publish(p.version, &Change[string]{Version: p.version, Collection: 1, Namespace: "ns", Name: "a"})
		assert.True(t, woken(w), "%+v", s)
	}
}
