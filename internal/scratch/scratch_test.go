package scratch

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBytesAreNotChangedByLaterWork would fail if a buffer was given back before its copy
// was made: other goroutines write to it at once.
func TestBytesAreNotChangedByLaterWork(t *testing.T) {
	var p Pool
	var all sync.WaitGroup
	for g := range byte(8) {
		all.Go(func() {
			for n := range 200 {
				data, err := p.Bytes(func(dst []byte) ([]byte, error) {
					assert.Empty(t, dst)
					for range n {
						dst = append(dst, g)
					}
					return dst, nil
				})
				assert.NoError(t, err)
				assert.Len(t, data, n)
				for _, b := range data {
					assert.Equal(t, g, b)
				}
			}
		})
	}
	all.Wait()
}

func TestBytesOfAnError(t *testing.T) {
	var p Pool
	failed := errors.New("failed")
	data, err := p.Bytes(func(dst []byte) ([]byte, error) { return append(dst, "half"...), failed })
	assert.Nil(t, data)
	require.ErrorIs(t, err, failed)
}

func TestUseDropsABufferThatMayBeRead(t *testing.T) {
	var p Pool
	var all [][]byte
	for range 100 { // a Pool may lose some buffers
		p.Use(func(buf []byte) []byte { return append(buf, "overwritten"...) })
		p.Use(func(buf []byte) []byte {
			all = append(all, append(buf, "read later"...))
			return nil
		})
	}
	p.Use(func(buf []byte) []byte { return append(buf, "overwritten"...) })
	for _, read := range all {
		assert.Equal(t, "read later", string(read))
	}
}

func TestUseKeepsBuffersUpToALimit(t *testing.T) {
	for _, size := range []int{maxKept, maxKept + 1} {
		var p Pool
		kept := false
		for range 100 { // a Pool may lose some buffers
			p.Use(func(buf []byte) []byte { return make([]byte, 0, size) })
			p.Use(func(buf []byte) []byte {
				kept = kept || cap(buf) == size
				return nil
			})
		}
		assert.Equal(t, size <= maxKept, kept, "%d bytes", size)
	}
}

func TestUseAllocatesNothing(t *testing.T) {
	var p Pool
	n := 0
	got := testing.AllocsPerRun(1000, func() {
		p.Use(func(buf []byte) []byte {
			buf = append(buf, "some bytes"...)
			n += len(buf)
			return buf
		})
	})
	assert.Less(t, got, 1.0, "a buffer is used again; the garbage collector may take one")
}
