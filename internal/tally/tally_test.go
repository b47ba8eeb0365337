package tally

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClientsAreCountedOnTheirOwn(t *testing.T) {
	c := New(2)
	leave := c.Take("a")
	require.NotNil(t, leave)
	assert.NotNil(t, c.Take("a"))
	assert.Nil(t, c.Take("a"))
	assert.NotNil(t, c.Take("b"))
	leave()
	leave() // counts once
	assert.NotNil(t, c.Take("a"))
	assert.Nil(t, c.Take("a"))
}

func TestClientsThatHaveNothingAreForgotten(t *testing.T) {
	c := New(2)
	c.Take("a")()
	assert.Empty(t, c.open)
}

func TestManyMayCountAtOnce(t *testing.T) {
	const most = 2
	c := New(most)
	var open atomic.Int32
	var tooMany atomic.Bool
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20_000 {
				leave := c.Take("a")
				if leave == nil {
					continue
				}
				if open.Add(1) > most {
					tooMany.Store(true)
				}
				open.Add(-1)
				leave()
			}
		})
	}
	all.Wait()
	assert.False(t, tooMany.Load())
	assert.Empty(t, c.open)
}

func TestNoLimit(t *testing.T) {
	c := New(0)
	for range 10 {
		assert.NotNil(t, c.Take("a"))
	}
}

func TestHost(t *testing.T) {
	assert.Equal(t, "::1", Host("[::1]:80"))
	assert.Equal(t, "10.0.0.1", Host("10.0.0.1:80"))
	assert.Equal(t, "@", Host("@"), "an address without a port, as of a Unix socket")
}
