// Package scratch lends buffers for short work, so that the work needs no memory of its own.
package scratch

import (
	"bytes"
	"sync"
)

// Pool lends buffers. The zero Pool is ready for use, from any goroutine. A buffer is lent
// only while a function runs, so it cannot be returned too early.
type Pool struct {
	buffers sync.Pool // of *[]byte
}

// maxKept is the size up to which a buffer is kept, in bytes.
const maxKept = 128 << 10

// Use calls work with an empty buffer. work returns the buffer, which may have grown. If
// something may still read the buffer then, work must return nil.
func (p *Pool) Use(work func(buf []byte) []byte) {
	kept, _ := p.buffers.Get().(*[]byte)
	if kept == nil {
		kept = new([]byte)
	}
	if buf := work((*kept)[:0]); cap(buf) <= maxKept {
		*kept = buf
		p.buffers.Put(kept)
	}
}

// Bytes returns the bytes that encode appends to a buffer, in memory of their size.
func (p *Pool) Bytes(encode func(dst []byte) ([]byte, error)) (data []byte, err error) {
	p.Use(func(buf []byte) []byte {
		if buf, err = encode(buf); err == nil {
			data = bytes.Clone(buf)
		}
		return buf
	})
	return data, err
}
