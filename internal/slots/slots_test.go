package slots

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTableGrowsWithItsUse(t *testing.T) {
	var s Table[int]
	size := func() int { return len(*s.table.Load()) }
	at := func(hash int) *atomic.Pointer[int] { return &(*s.table.Load())[hash%size()] }
	use := func(times, full int) {
		for range times {
			s.At(7, full)
		}
	}
	s.At(7, 2048).Store(new(1))
	s.At(8, 2048).Store(new(1))
	assert.Equal(t, 1, *at(7).Load())
	assert.Same(t, at(7), at(7+small))
	use(usesOfASlot*small-2, 2048)
	assert.Equal(t, small, size())
	s.At(7, 2048).Store(new(2))
	assert.Equal(t, growth*small, size())
	assert.Equal(t, 2, *at(7).Load(), "what is written in a table that has just grown")
	assert.Nil(t, at(8).Load(), "what was there before is lost")

	use(usesOfASlot*growth*small+1, growth*small)
	assert.Equal(t, growth*small, size(), "it is full")
	assert.NotNil(t, at(7).Load(), "and keeps what it has")
	use(usesOfASlot*growth*small, 2048)
	assert.Equal(t, growth*small, size(), "each table counts its own uses")
	use(1, 2048)
	assert.Equal(t, 2048, size())
}

func TestSmallTableIsOnePieceOfMemory(t *testing.T) {
	var s Table[int]
	assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		s = Table[int]{}
		s.At(7, small)
	}))
	assert.Zero(t, testing.AllocsPerRun(100, func() { s.At(7, small) }), "it is there already")
}
