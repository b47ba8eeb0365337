package registry

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"strconv"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/derive"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file makes uids and generated names. Without a Seed they are random. With one, each depends on the seed and
// the object's own history only, so that concurrent writers of different objects do not affect each other.

// Seed returns the Seed of Options.
func (st *Store) Seed() uint64 { return st.seed }

// derive returns a hash of the seed, the resource and the words.
func (r *Resource) derive(words ...string) derive.Sum {
	return derive.From(r.st.seed, append([]string{r.Info().Group, r.Info().Plural}, words...)...)
}

// seeded holds the names and prefixes that a Resource with a Seed remembers. The zero
// value is empty, and stays empty without a Seed. st.mu guards it.
type seeded struct {
	tree *btree.BTreeG[nameRecord] // nil while it is empty
}

// nameRecord is about a free name, or a prefix of generated names.
type nameRecord struct {
	key
	prefix bool
	uid    meta.UID // of the last object with the name
	names  uint64   // how many were generated with the prefix
}

func nameRecordLess(a, b nameRecord) bool {
	if a.key != b.key {
		return entryLess(entry{key: a.key}, entry{key: b.key})
	}
	return !a.prefix && b.prefix
}

func (m *seeded) get(p nameRecord) nameRecord {
	if m.tree != nil {
		if have, ok := m.tree.Get(p); ok {
			return have
		}
	}
	return p
}

func (m *seeded) put(p nameRecord) {
	if m.tree == nil {
		m.tree = btree.NewG(treeDegree, nameRecordLess)
	}
	m.tree.ReplaceOrInsert(p)
}

// fork returns an independent copy. It counts as a write.
func (m *seeded) fork() seeded {
	if m.tree == nil {
		return seeded{}
	}
	return seeded{m.tree.Clone()}
}

// newUID returns a random uid. With a Seed it is a placeholder, which deriveUIDLocked
// replaces when the object is stored.
func (r *Resource) newUID() meta.UID {
	if r.st.seed != 0 {
		return "00000000-0000-4000-8000-000000000000"
	}
	var b [16]byte
	// The generator of the runtime will do, as a uid is no secret. The first use of
	// crypto/rand takes 30 us of a process.
	binary.LittleEndian.PutUint64(b[:8], mathrand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], mathrand.Uint64())
	return meta.UID(derive.UUID(b))
}

// deriveUIDLocked sets the uid of a new object if there is a Seed. The uid is derived from the uid of the last object
// with the same name, so a store that was loaded from a dump continues as the dumped store would.
func (r *Resource) deriveUIDLocked(m *meta.ObjectMeta) {
	if r.st.seed != 0 {
		last := r.seeded.get(nameRecord{key: key{m.Namespace, m.Name}}).uid
		m.UID = meta.UID(r.derive("uid", m.Namespace, m.Name, string(last)).UUID())
	}
}

// deriveUID is deriveUIDLocked for an object that is not stored now.
func (r *Resource) deriveUID(m *meta.ObjectMeta) {
	r.st.mu.RLock()
	defer r.st.mu.RUnlock()
	r.deriveUIDLocked(m)
}

// rememberUIDLocked keeps the uid of a deleted object for deriveUIDLocked.
func (r *Resource) rememberUIDLocked(m *meta.ObjectMeta) {
	if r.st.seed != 0 {
		r.seeded.put(nameRecord{key: key{m.Namespace, m.Name}, uid: m.UID})
	}
}

const (
	generatedSuffix = 5
	longestPrefix   = 63 - generatedSuffix
	// suffixAlphabet has no vowels, and no digits that look like them, so that no
	// suffix is a word (upstream: apimachinery, util/rand).
	suffixAlphabet   = "bcdfghjklmnpqrstvwxz2456789"
	generateAttempts = 8
)

// generateName appends a random suffix to a prefix, which is cut so that the name fits into a DNS label. attempt
// counts from 1. With a Seed a dry run gets the names that come next, and does not use them up.
func (r *Resource) generateName(namespace, prefix string, attempt int, dryRun bool) string {
	prefix = prefix[:min(len(prefix), longestPrefix)]
	if r.st.seed == 0 {
		return appendSuffix(prefix, func(b []byte) { rand.Read(b) }) // never fails
	}
	r.st.mu.Lock()
	p := r.seeded.get(nameRecord{key: key{namespace, prefix}, prefix: true})
	n := p.names
	if dryRun {
		n += uint64(attempt - 1)
	} else {
		p.names++
		r.seeded.put(p)
	}
	r.st.mu.Unlock()
	sum, i := r.derive("name", namespace, prefix, strconv.FormatUint(n, 10)), 0
	return appendSuffix(prefix, func(b []byte) {
		b[0] = sum[i%len(sum)]
		i++
		if i%len(sum) == 0 {
			sum = r.derive("name", namespace, prefix, string(sum[:])) // suffixes need this very rarely
		}
	})
}

// appendSuffix appends characters chosen by random bytes.
func appendSuffix(prefix string, random func(b []byte)) string {
	name := append(make([]byte, 0, len(prefix)+generatedSuffix), prefix...)
	var b [1]byte
	for len(name) < len(prefix)+generatedSuffix {
		random(b[:])
		// Bytes above the last whole multiple would favour some characters.
		if n := len(suffixAlphabet); int(b[0]) < 256/n*n {
			name = append(name, suffixAlphabet[int(b[0])%n])
		}
	}
	return string(name)
}
