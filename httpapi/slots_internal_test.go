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

func TestEachClientHasALimit(t *testing.T) {
	c := newSlots(0, 2)
	require.True(t, c.take("a"))
	assert.True(t, c.take("a"))
	assert.False(t, c.take("a"))
	assert.True(t, c.take("b"), "another client")
	c.leave("a")
	assert.True(t, c.take("a"))
	assert.False(t, c.take("a"))
}

func TestAllClientsHaveALimit(t *testing.T) {
	for name, each := range map[string]int{"alone": 0, "beside one for each": 3} {
		t.Run(name, func(t *testing.T) {
			c := newSlots(5, each)
			for range 3 {
				require.True(t, c.take("a"))
			}
			require.True(t, c.take("b"))
			require.True(t, c.take("b"))
			assert.False(t, c.take("c"))
			assert.False(t, c.take("c"), "a refusal counts nothing")
			c.leave("a")
			assert.True(t, c.take("c"))
			assert.False(t, c.take("c"))
		})
	}
}

func TestClientsThatUseNothingAreForgotten(t *testing.T) {
	c := newSlots(0, 2)
	require.True(t, c.take("a"))
	c.leave("a")
	assert.Empty(t, c.by)
	assert.Zero(t, c.used)
}

func TestManyMayCountAtOnce(t *testing.T) {
	const each, all = 2, 3
	c := newSlots(all, each)
	var total atomic.Int32
	var used [2]atomic.Int32
	var tooMany atomic.Bool
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			name, mine := string(rune('a'+g%2)), &used[g%2]
			for range 20_000 {
				if !c.take(name) {
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
				c.leave(name)
			}
		})
	}
	group.Wait()
	assert.False(t, tooMany.Load())
	assert.Empty(t, c.by)
}

func TestNoLimit(t *testing.T) {
	c := newSlots(0, 0)
	for range 10 {
		assert.True(t, c.take("a"))
	}
	c.leave("a")
}

func TestHostOfAClient(t *testing.T) {
	assert.Equal(t, "::1", hostOfClient("[::1]:80"))
	assert.Equal(t, "10.0.0.1", hostOfClient("10.0.0.1:80"))
	assert.Equal(t, "@", hostOfClient("@"), "an address without a port, as of a Unix socket")
}

// BenchmarkSlot takes a slot and gives it back.
func BenchmarkSlot(b *testing.B) {
	c := newSlots(400, 200)
	b.ReportAllocs()
	for b.Loop() {
		c.take(hostOfClient("10.0.0.1:12345"))
		c.leave("10.0.0.1")
	}
}

// line sends requests into the line, each after the one before it, and returns a channel with the clients that were counted.
func line(c *slots, clients ...string) <-chan string {
	counted := make(chan string, len(clients))
	for _, client := range clients {
		go func() {
			if c.wait(context.Background(), client) {
				counted <- client
			}
		}()
		synctest.Wait()
	}
	return counted
}

func TestClientsInLineTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSlots(1, 0)
		require.True(t, c.take("x"))
		counted := line(c, "a", "a", "a", "b", "c", "b")
		last, order := "x", ""
		for range 6 {
			c.leave(last)
			last = <-counted
			order += last
		}
		assert.Equal(t, "abcaba", order)
		c.leave(last)
		assert.Zero(t, c.used)
		assert.Empty(t, c.by)
		assert.Empty(t, c.lines)
		assert.Empty(t, c.turn)
	})
}

func TestAClientInLineBehindItsShareDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSlots(3, 2)
		require.True(t, c.take("a"))
		require.True(t, c.take("a"))
		require.True(t, c.take("b"))
		counted := line(c, "a", "c")
		c.leave("b")
		assert.Equal(t, "c", <-counted)
		c.leave("c")
		synctest.Wait()
		assert.Empty(t, counted, "a has its share")
		c.leave("a")
		assert.Equal(t, "a", <-counted)
	})
}

func TestWhoLeavesTheLineCountsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSlots(1, 0)
		require.True(t, c.take("x"))
		counted := line(c, "a")
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan bool)
		go func() { gone <- c.wait(ctx, "b") }()
		synctest.Wait()
		cancel()
		assert.False(t, <-gone)
		c.leave("x")
		assert.Equal(t, "a", <-counted)
		assert.Equal(t, 1, c.used)
		assert.Empty(t, c.turn)
	})
}
