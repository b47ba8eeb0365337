package tally

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEachClientHasALimit(t *testing.T) {
	c := New(0, 2)
	require.True(t, c.Take("a", 1))
	assert.True(t, c.Take("a", 1))
	assert.False(t, c.Take("a", 1))
	assert.True(t, c.Take("b", 2), "another client")
	assert.False(t, c.Take("b", 1))
	c.Leave("a", 1)
	assert.True(t, c.Take("a", 1))
	assert.False(t, c.Take("a", 1))
}

func TestAllClientsHaveALimit(t *testing.T) {
	for name, each := range map[string]int{"alone": 0, "beside one for each": 3} {
		t.Run(name, func(t *testing.T) {
			c := New(5, each)
			require.True(t, c.Take("a", 3))
			assert.False(t, c.Take("b", 3))
			assert.True(t, c.Take("b", 2), "a refusal counts nothing")
			assert.False(t, c.Take("c", 1))
			c.Leave("a", 3)
			assert.True(t, c.Take("c", 3))
		})
	}
}

func TestClientsThatUseNothingAreForgotten(t *testing.T) {
	c := New(0, 2)
	require.True(t, c.Take("a", 2))
	c.Leave("a", 2)
	assert.Empty(t, c.by)
	assert.Zero(t, c.used)
}

func TestManyMayCountAtOnce(t *testing.T) {
	const each, all = 2, 3
	c := New(all, each)
	var total atomic.Int32
	var used [2]atomic.Int32
	var tooMany atomic.Bool
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			name, mine := string(rune('a'+g%2)), &used[g%2]
			for range 20_000 {
				if !c.Take(name, 1) {
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
				c.Leave(name, 1)
			}
		})
	}
	group.Wait()
	assert.False(t, tooMany.Load())
	assert.Empty(t, c.by)
}

func TestNoLimit(t *testing.T) {
	c := New(0, 0)
	for range 10 {
		assert.True(t, c.Take("a", 1<<30))
	}
	c.Leave("a", 1)
}

func TestHost(t *testing.T) {
	assert.Equal(t, "::1", Host("[::1]:80"))
	assert.Equal(t, "10.0.0.1", Host("10.0.0.1:80"))
	assert.Equal(t, "@", Host("@"), "an address without a port, as of a Unix socket")
}

// BenchmarkTake takes a slot and gives it back.
func BenchmarkTake(b *testing.B) {
	c := New(400, 200)
	b.ReportAllocs()
	for b.Loop() {
		c.Take(Host("10.0.0.1:12345"), 1)
		c.Leave("10.0.0.1", 1)
	}
}
