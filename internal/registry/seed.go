package registry

import (
	"crypto/rand"
	"strconv"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/derive"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file makes up what a server does: uids and generated names. Without a Seed they are random. With one each is a
// function of the seed and of what it is for, and not of one sequence that all
// share, so that they do not depend on the order of writers who have nothing to do
// with each other.

// Seed returns the Seed of Options.
func (st *Store) Seed() uint64 { return st.seed }

// derive returns what a seed makes of words about the resource.
func (r *Resource) derive(words ...string) derive.Sum {
	return derive.From(r.st.seed, append([]string{r.kind.group, r.kind.plural}, words...)...)
}

// madeUp is what a Resource of a seeded Store has to remember: what belongs to
// names that are free again, or to prefixes. It is empty without a Seed. The zero
// value remembers nothing; st.mu guards it.
type madeUp struct {
	tree *btree.BTreeG[past] // nil until there is something
}

// past is what is known of a name, or of a prefix.
type past struct {
	key
	prefix bool
	uid    meta.UID // of the last object of the name, which is gone
	names  uint64   // how many have been made of the prefix
}

func pastLess(a, b past) bool {
	if a.key != b.key {
		return entryLess(entry{key: a.key}, entry{key: b.key})
	}
	return !a.prefix && b.prefix
}

func (m *madeUp) get(p past) past {
	if m.tree != nil {
		if have, ok := m.tree.Get(p); ok {
			return have
		}
	}
	return p
}

func (m *madeUp) put(p past) {
	if m.tree == nil {
		m.tree = btree.NewG(treeDegree, pastLess)
	}
	m.tree.ReplaceOrInsert(p)
}

// fork returns a copy that goes its own way, at no cost. It counts as a write.
func (m *madeUp) fork() madeUp {
	if m.tree == nil {
		return madeUp{}
	}
	return madeUp{m.tree.Clone()}
}

// newUID returns the uid of an object to be. With a Seed it is to be settled by
// settleUIDLocked when the object is put into the tree.
func (r *Resource) newUID() meta.UID {
	if r.st.seed != 0 {
		return "00000000-0000-4000-8000-000000000000"
	}
	var b [16]byte
	rand.Read(b[:]) // never fails
	return meta.UID(derive.UUID(b))
}

// settleUIDLocked gives a new object the uid that it has by the Seed, if there is
// one: it follows from that of the last object of the same name. So a dump that is
// loaded goes on as what was dumped would have.
func (r *Resource) settleUIDLocked(m *meta.ObjectMeta) {
	if r.st.seed != 0 {
		last := r.made.get(past{key: key{m.Namespace, m.Name}}).uid
		m.UID = meta.UID(r.derive("uid", m.Namespace, m.Name, string(last)).UUID())
	}
}

// buryLocked remembers the uid of an object that is gone.
func (r *Resource) buryLocked(m *meta.ObjectMeta) {
	if r.st.seed != 0 {
		r.made.put(past{key: key{m.Namespace, m.Name}, uid: m.UID})
	}
}

const (
	generatedSuffix = 5
	longestPrefix   = 63 - generatedSuffix
	// suffixAlphabet leaves out vowels and digits that look like letters, so
	// that no words come about.
	suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"
	// generateAttempts is how often a generated name is tried.
	generateAttempts = 8
)

// generateName appends random characters to a prefix, cut so that the whole
// fits into a DNS label. attempt counts from 1; with a Seed a dry run is told the
// names that come next, and they come nevertheless.
func (r *Resource) generateName(namespace, prefix string, attempt int, dryRun bool) string {
	prefix = prefix[:min(len(prefix), longestPrefix)]
	if r.st.seed == 0 {
		return appendSuffix(prefix, func(b []byte) { rand.Read(b) })
	}
	r.st.mu.Lock()
	p := r.made.get(past{key: key{namespace, prefix}, prefix: true})
	n := p.names
	if dryRun {
		n += uint64(attempt - 1)
	} else {
		p.names++
		r.made.put(p)
	}
	r.st.mu.Unlock()
	sum, i := r.derive("name", namespace, prefix, strconv.FormatUint(n, 10)), 0
	return appendSuffix(prefix, func(b []byte) {
		b[0] = sum[i%len(sum)]
		i++
		if i%len(sum) == 0 {
			sum = r.derive("name", namespace, prefix, string(sum[:])) // never, but for luck
		}
	})
}

// appendSuffix appends characters that random bytes stand for.
func appendSuffix(prefix string, random func(b []byte)) string {
	name := append(make([]byte, 0, len(prefix)+generatedSuffix), prefix...)
	var b [1]byte
	for len(name) < len(prefix)+generatedSuffix {
		random(b[:])
		// Values past the last whole multiple would favour some characters.
		if n := len(suffixAlphabet); int(b[0]) < 256/n*n {
			name = append(name, suffixAlphabet[int(b[0])%n])
		}
	}
	return string(name)
}
