// Package derive computes values that are otherwise random from a seed and some
// words: the same words give the same value. The values are not secret.
package derive

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Sum is the hash of a seed and some words.
type Sum [sha256.Size]byte

// From returns the Sum of a seed and words.
func From(seed uint64, words ...string) Sum {
	size := 8
	for _, w := range words {
		size += 8 + len(w)
	}
	data := binary.BigEndian.AppendUint64(make([]byte, 0, size), seed)
	for _, w := range words {
		// The length keeps different lists of words apart.
		data = binary.BigEndian.AppendUint64(data, uint64(len(w)))
		data = append(data, w...)
	}
	return sha256.Sum256(data)
}

// Uint64 returns the Sum as a number.
func (s Sum) Uint64() uint64 { return binary.BigEndian.Uint64(s[:]) }

// UUID returns the Sum in the form of a random UUID.
func (s Sum) UUID() string { return UUID([16]byte(s[:16])) }

// UUID returns bytes as a UUID of version 4 (RFC 9562).
func UUID(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var room [36]byte
	s := hex.AppendEncode(room[:0], b[:4])
	for _, part := range [][]byte{b[4:6], b[6:8], b[8:10], b[10:]} {
		s = hex.AppendEncode(append(s, '-'), part)
	}
	return string(s)
}
