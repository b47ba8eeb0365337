package slots

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTableGrowsOnce(t *testing.T) {
	var s Table[int]
	assert.Nil(t, s.Peek(7))
	size := func() int { return len(*s.table.Load()) }
	s.At(7, 1024).Store(new(1))
	assert.Equal(t, 1, *s.Peek(7).Load())
	assert.Same(t, s.Peek(7), s.Peek(7+small))
	for range smallUses - 1 {
		s.At(7, 1024)
	}
	assert.Equal(t, small, size())
	s.At(7, 1024)
	assert.Equal(t, 1024, size())
	assert.Nil(t, s.Peek(7).Load(), "it is empty then")
}
