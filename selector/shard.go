package selector

import (
	"fmt"
	"strings"
)

// Shards selects objects by the hash of their uid or of their namespace. The zero value selects every object.
type Shards struct {
	field  shardField
	ranges []shardRange // in the order written
}

// shardField is the field that is hashed. All ranges of a selector have the same one.
type shardField string

const (
	shardUID       shardField = "object.metadata.uid"
	shardNamespace shardField = "object.metadata.namespace"
)

// shardRange holds the hashes from first to last, both included. It is never empty. A selector writes the end as last+1;
// storing last keeps the highest end, 2^64, within 64 bits.
type shardRange struct {
	first, last uint64
}

// Empty reports whether the selector selects every object.
func (s Shards) Empty() bool { return len(s.ranges) == 0 }

// Matches reports whether an object with this uid and namespace is selected.
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

// String returns the canonical form, which lists also show in metadata.shardInfo: the ranges in the order written, joined
// by " || ", with bounds of 16 digits in single quotes. It is empty if the selector selects every object.
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

// end returns the first hash behind the range, as selectors write it.
func (r shardRange) end() string {
	if r.last == ^uint64(0) {
		return shardMaximum
	}
	return fmt.Sprintf("0x%016x", r.last+1)
}

// fnv1a returns the 64-bit FNV-1a hash, as apimachinery's pkg/sharding HashField does. Package hash/fnv takes bytes, which
// would copy the string for every object.
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
