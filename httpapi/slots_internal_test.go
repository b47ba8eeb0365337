package httpapi

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// takes reports whether a client gets a slot.
func takes(s *slots, name string) bool {
	_, taken := s.take(name)
	return taken
}

func TestASlotIsExchangedForOneOfAnotherSort(t *testing.T) {
	of := newClients()
	from, to := of.slots(0, 1, 0), of.slots(1, 0, 1)
	held, taken := from.take("a")
	require.True(t, taken)
	held, taken = from.exchange(held, "a", to)
	require.True(t, taken)
	assert.Equal(t, 0, from.inUse())
	assert.Equal(t, 1, to.inUse())
	require.True(t, takes(from, "b"))
	_, taken = to.exchange(held, "a", from)
	assert.False(t, taken, "it is full")
	assert.Equal(t, 0, to.inUse())
	assert.Equal(t, 1, from.inUse())
	from.leave(of.by["b"])
	assert.Empty(t, of.by)
}

func TestEachClientHasALimit(t *testing.T) {
	c := newClients().slots(1, 0, 2)
	require.True(t, takes(c, "a"))
	assert.True(t, takes(c, "a"))
	assert.False(t, takes(c, "a"))
	assert.True(t, takes(c, "b"), "another client")
	c.leave(c.clients.by["a"])
	assert.True(t, takes(c, "a"))
	assert.False(t, takes(c, "a"))
}

func TestAllClientsHaveALimit(t *testing.T) {
	for name, each := range map[string]int{"alone": 0, "beside one for each": 3} {
		t.Run(name, func(t *testing.T) {
			c := newClients().slots(1, 5, each)
			for range 3 {
				require.True(t, takes(c, "a"))
			}
			require.True(t, takes(c, "b"))
			require.True(t, takes(c, "b"))
			assert.False(t, takes(c, "c"))
			assert.False(t, takes(c, "c"), "a refusal counts nothing")
			c.leave(c.clients.by["a"])
			assert.True(t, takes(c, "c"))
			assert.False(t, takes(c, "c"))
		})
	}
}

func TestClientsThatUseNothingAreForgotten(t *testing.T) {
	c := newClients().slots(1, 0, 2)
	require.True(t, takes(c, "a"))
	c.leave(c.clients.by["a"])
	assert.Empty(t, c.clients.by)
	assert.Zero(t, c.used)
}

func TestManyMayCountAtOnce(t *testing.T) {
	const each, all = 2, 3
	c := newClients().slots(1, all, each)
	var total atomic.Int32
	var used [2]atomic.Int32
	var tooMany atomic.Bool
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			name, mine := string(rune('a'+g%2)), &used[g%2]
			for range 20_000 {
				held, taken := c.take(name)
				if !taken {
					continue
				}
				if mine.Add(1) > each {
					tooMany.Store(true)
				}
				if total.Add(1) > all {
					tooMany.Store(true)
				}
				mine.Add(-1)
				total.Add(-1)
				c.leave(held)
			}
		})
	}
	group.Wait()
	assert.False(t, tooMany.Load())
	assert.Empty(t, c.clients.by)
}

func TestNoLimit(t *testing.T) {
	c := newClients().slots(1, 0, 0)
	for range 10 {
		assert.True(t, takes(c, "a"))
	}
	c.leave(nil)
	limited := newClients().slots(0, 1, 1)
	held, _ := limited.take("a")
	_, taken := limited.exchange(held, "a", c)
	assert.True(t, taken)
	assert.Zero(t, limited.inUse())
}

func TestHostOfAClient(t *testing.T) {
	assert.Equal(t, "::1", hostOfClient("[::1]:80"))
	assert.Equal(t, "10.0.0.1", hostOfClient("10.0.0.1:80"))
	assert.Equal(t, "@", hostOfClient("@"), "an address without a port, as of a Unix socket")
}

// line sends requests into the line, each after the one before it, and returns a channel with the clients that were counted.
func line(c *slots, clients ...string) <-chan string {
	counted := make(chan string, len(clients))
	for _, client := range clients {
		go func() {
			if _, taken := c.wait(context.Background(), client); taken {
				counted <- client
			}
		}()
		synctest.Wait()
	}
	return counted
}

func TestClientsInLineTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients().slots(1, 1, 0)
		require.True(t, takes(c, "x"))
		counted := line(c, "a", "a", "a", "b", "c", "b")
		last, order := "x", ""
		for range 6 {
			c.leave(c.clients.by[last])
			last = <-counted
			order += last
		}
		assert.Equal(t, "abcaba", order)
		c.leave(c.clients.by[last])
		assert.Zero(t, c.used)
		assert.Empty(t, c.clients.by)
		assert.Empty(t, c.turn)
	})
}

func TestAClientInLineBehindItsShareDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients().slots(1, 3, 2)
		require.True(t, takes(c, "a"))
		require.True(t, takes(c, "a"))
		require.True(t, takes(c, "b"))
		counted := line(c, "a", "c")
		c.leave(c.clients.by["b"])
		assert.Equal(t, "c", <-counted)
		c.leave(c.clients.by["c"])
		synctest.Wait()
		assert.Empty(t, counted, "a has its share")
		c.leave(c.clients.by["a"])
		assert.Equal(t, "a", <-counted)
	})
}

func TestWhoLeavesTheLineCountsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients().slots(1, 1, 0)
		require.True(t, takes(c, "x"))
		counted := line(c, "a")
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan bool)
		go func() {
			_, taken := c.wait(ctx, "b")
			gone <- taken
		}()
		synctest.Wait()
		cancel()
		assert.False(t, <-gone)
		c.leave(c.clients.by["x"])
		assert.Equal(t, "a", <-counted)
		assert.Equal(t, 1, c.used)
		assert.Empty(t, c.turn)
	})
}

// endsByValue is a context whose end only one goroutine sees.
type endsByValue struct {
	context.Context
	done chan struct{}
}

func (c endsByValue) Done() <-chan struct{} { return c.done }

func TestAWaitThatEndsAsItIsCountedHasItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClients().slots(1, 1, 0)
		holder, taken := c.take("a")
		require.True(t, taken)
		ctx := endsByValue{t.Context(), make(chan struct{})}
		var waiter *client
		counted := make(chan bool)
		go func() {
			var ok bool
			waiter, ok = c.wait(ctx, "b")
			counted <- ok
		}()
		synctest.Wait() // it is in line
		c.clients.mu.Lock()
		ctx.done <- struct{}{} // its wait has ended
		c.leaveLocked(holder)
		c.clients.mu.Unlock()
		assert.True(t, <-counted)
		assert.Equal(t, 1, c.inUse())
		c.leave(waiter)
		assert.Equal(t, 0, c.inUse())
		assert.Empty(t, c.clients.by)
	})
}
