package lease

import (
	"fmt"
	"time"
)

// Overlap is a period in which a Lease had two holders: the second one took it
// before it expired, and the first one had not released it.
type Overlap struct {
	First, Second string    // identities
	From, Until   time.Time // when the second one took the Lease, and when it expired
	// ResourceVersion is the version of the Lease that the second one wrote.
	ResourceVersion string
}

// String describes the Overlap in one line.
func (o Overlap) String() string {
	return fmt.Sprintf("%q took the Lease at %s, %s before the Lease of %q ran out",
		o.Second, o.From.UTC().Format(time.RFC3339Nano), o.Until.Sub(o.From), o.First)
}

// Audit checks the history of a Lease for two holders at once. The zero value has
// seen no history. Only one goroutine may use it at a time.
//
// A Lease expires leaseDurationSeconds after it was written; see Observation.
// After a deletion the holder still counts until then, because it may not know.
type Audit struct {
	seen    Observation
	holder  string
	expires time.Time
}

// See adds the state of the Lease after a change at the given time, nil after a
// deletion. It returns the Overlap that the change began, and reports whether it
// began one.
func (a *Audit) See(l *Lease, at time.Time) (Overlap, bool) {
	first, until := a.holder, a.expires
	a.seen.Observe(l, at)
	second := a.seen.Holder()
	if l != nil {
		a.holder, a.expires = second, a.seen.Expires()
	}
	if second == "" || first == second || !at.Before(until) {
		return Overlap{}, false
	}
	return Overlap{First: first, Second: second, From: at, Until: until, ResourceVersion: l.ResourceVersion}, true
}
