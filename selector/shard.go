package selector

import (
	"fmt"
	"strings"
)

// Shards selects objects whose uid or namespace hashes into one of several ranges. The zero value selects everything.
type Shards struct {
	field  shardField
	ranges []shardRange // in the order written
}

// shardField is what is hashed, the same for all ranges of a selector.
type shardField string

const (
	shardUID       shardField = "object.metadata.uid"
	shardNamespace shardField = "object.metadata.namespace"
)

// shardRange holds the hashes from first to last, both included. The end a selector gives is one more than last: that way
// the highest end, 2^64, needs no 65th bit. A range is never empty.
type shardRange struct {
	first, last uint64
}

// Empty reports whether the selector takes every object, whatever its hash.
func (s Shards) Empty() bool {
	return len(s.ranges) == 0
}

// Matches reports whether an object with this uid and namespace is selected. Only the one the selector names is hashed.
func (s Shards) Matches(uid, namespace string) bool {
	if len(s.ranges) == 0 {
		return true
	}
	value := uid
	if s.field == shardNamespace {
		value = namespace
	}
	hash := fnv1a(value)
	for _, r := range s.ranges {
		if r.first <= hash && hash <= r.last {
			return true
		}
	}
	return false
}

// String returns the selector in canonical form, which is also the form lists show in metadata.shardInfo: ranges in the
// order written, joined by " || ", with bounds of 16 digits in single quotes. It is empty for the selector that takes
// everything.
func (s Shards) String() string {
	var b strings.Builder
	for i, r := range s.ranges {
		if i > 0 {
			b.WriteString(" || ")
		}
		fmt.Fprintf(&b, "shardRange(%s, '0x%016x', '%s')", s.field, r.first, r.end())
	}
	return b.String()
}

// end prints the end of a range as selectors give it: the first hash behind it.
func (r shardRange) end() string {
	if r.last == ^uint64(0) {
		return shardMaximum
	}
	return fmt.Sprintf("0x%016x", r.last+1)
}

// fnv1a hashes with 64-bit FNV-1a, as apimachinery's pkg/sharding HashField does. It is written out because hash/fnv wants
// bytes, which would be a copy of the string per object.
func fnv1a(s string) uint64 {
	const (
		offset = 14695981039346656037
		prime  = 1099511628211
	)
	hash := uint64(offset)
	for i := range len(s) {
		hash = (hash ^ uint64(s[i])) * prime
	}
	return hash
}
