package explore

import (
	"bytes"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// Most changes of a run are renewals of a Lease. Whether anything but times and versions differs can be seen in the encoded objects, without decoding
// them.

// differInTimes reports whether two states of an object are known to differ in times and versions only, so that their trees are equal. If it is false
// they may still be.
func (n *names) differInTimes(a, b *registry.Item) bool {
	before, err := a.Encoded(0, kinds.JSON)
	if err != nil {
		return false
	}
	after, err := b.Encoded(0, kinds.JSON)
	return err == nil && sameTexts(before, after, func(a, b []byte) bool {
		return isTime(string(a)) && isTime(string(b)) || n.versions[string(a)] && n.versions[string(b)]
	})
}

// sameTexts reports whether two JSON texts are equal but for values that are strings which are the same, without escapes.
func sameTexts(a, b []byte, same func(a, b []byte) bool) bool {
	for {
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		if n == len(a) || n == len(b) {
			return len(a) == len(b)
		}
		// A string begins after the last quote that is equal. What stands there if it is none is no time and no version.
		from := bytes.LastIndexByte(a[:n], '"') + 1
		i, j := bytes.IndexByte(a[n:], '"'), bytes.IndexByte(b[n:], '"')
		if i < 0 || j < 0 || from > 1 && a[from-2] == '\\' || isName(a[n+i:]) || isName(b[n+j:]) || !same(a[from:n+i], b[from:n+j]) {
			return false
		}
		a, b = a[n+i:], b[n+j:]
	}
}

// isName reports whether a string that ends with the first byte is the name of a member.
func isName(text []byte) bool { return len(text) > 1 && text[1] == ':' }

// isTime reports whether a string is a time as objects have it.
func isTime(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' {
		return false
	}
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}
