package slots

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTableGrowsWithItsUse(t *testing.T) {
	var s Table[int]
	assert.Nil(t, s.Peek(7))
	size := func() int { return len(*s.table.Load()) }
	use := func(times, full int) {
		for range times {
			s.At(7, full)
		}
	}
	s.At(7, 2048).Store(new(1))
	assert.Equal(t, 1, *s.Peek(7).Load())
	assert.Same(t, s.Peek(7), s.Peek(7+small))
	use(usesOfASlot*small-1, 2048)
	assert.Equal(t, small, size())
	use(1, 2048)
	assert.Equal(t, growth*small, size())
	assert.Nil(t, s.Peek(7).Load(), "it is empty then")

	use(usesOfASlot*growth*small+1, growth*small)
	assert.Equal(t, growth*small, size(), "it is full")
	use(usesOfASlot*growth*small+1, 2048)
	assert.Equal(t, 2048, size())
}
