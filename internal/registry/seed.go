package registry

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/store/meta"
)

// This file makes what is random: uids and generated names, and for httpapi the ids of requests and the times of watches. With a
// Seed each value is the hash of the seed and a counter, so the same calls in the same order get the same values. Requests have a
// counter of their own: a read must not change the uid of the next object.

// requestsFrom is where the counter of requests starts.
const requestsFrom = 1 << 63

// Random returns bytes for a request, which are no secret.
func (st *Store) Random() [16]byte { return st.draw(&st.drawn[1]) }

func (st *Store) draw(counter *atomic.Uint64) (b [16]byte) {
	if st.seed != 0 {
		of := binary.BigEndian.AppendUint64(make([]byte, 0, 16), st.seed)
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(of, counter.Add(1)))
		return [16]byte(sum[:16])
	}
	// The generator of the runtime will do. The first use of crypto/rand takes 30 us of a process.
	binary.LittleEndian.PutUint64(b[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	return b
}

// SkipRandom leaves out n random values of a Seed, so that a fork draws others than its origin.
func (st *Store) SkipRandom(n uint64) {
	for i := range st.drawn {
		st.drawn[i].Add(n)
	}
}

// RandomUUID returns a UUID for a request, of version 4 (RFC 9562).
func (st *Store) RandomUUID() string { return uuid(st.Random()) }

func uuid(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	s := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	hex.Encode(s[:8], b[:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:], b[10:])
	return string(s[:])
}

func (r *Resource) newUID() meta.UID { return meta.UID(uuid(r.st.draw(&r.st.drawn[0]))) }

const (
	generatedSuffix = 5
	longestPrefix   = 63 - generatedSuffix
	// suffixAlphabet has no vowels, and no digits that look like them, so that no
	// suffix is a word (upstream: apimachinery, util/rand).
	suffixAlphabet   = "bcdfghjklmnpqrstvwxz2456789"
	generateAttempts = 8
)

// generateName appends a random suffix to a prefix, which is cut so that the name fits into a DNS label.
func (r *Resource) generateName(prefix string) string {
	prefix = prefix[:min(len(prefix), longestPrefix)]
	name := append(make([]byte, 0, len(prefix)+generatedSuffix), prefix...)
	for len(name) < len(prefix)+generatedSuffix {
		b := r.st.draw(&r.st.drawn[0])
		if r.st.seed == 0 {
			crand.Read(b[:]) // never fails
		}
		// A byte above the last whole multiple would favour some characters.
		if n := len(suffixAlphabet); int(b[0]) < 256/n*n {
			name = append(name, suffixAlphabet[int(b[0])%n])
		}
	}
	return string(name)
}

// Generated returns the prefix of a name that a Resource has generated, and false for a name that a client has chosen, even if the object
// has a generateName too, as the Pods of a StatefulSet have.
func Generated(name, generateName string) (prefix string, ok bool) {
	prefix = generateName[:min(len(generateName), longestPrefix)]
	suffix, ok := strings.CutPrefix(name, prefix)
	return prefix, ok && prefix != "" && len(suffix) == generatedSuffix && strings.Trim(suffix, suffixAlphabet) == ""
}
