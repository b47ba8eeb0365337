package lease

import (
	"fmt"
	"time"
)

// Overlap is a time in which two held one Lease: the second one wrote itself into
// it while the first one, by the duration that it had last written, still held
// it, and had not let go.
type Overlap struct {
	First, Second string    // the holders' identities
	From, Until   time.Time // when the second one took it, and when it might have
	// ResourceVersion is that of the write that took it.
	ResourceVersion string
}

// String says who did what, and how much too early.
func (o Overlap) String() string {
	return fmt.Sprintf("%q took the Lease at %s, %s before that of %q ran out",
		o.Second, o.From.UTC().Format(time.RFC3339Nano), o.Until.Sub(o.From), o.First)
}

// Audit finds out whether a Lease ever had two holders at once, from its states
// in order. The zero value has seen none. It is for one goroutine.
//
// What counts is when the Lease was written, and leaseDurationSeconds; see
// Observation. A Lease that is deleted is still held until it would have run
// out: its holder does not know.
type Audit struct {
	seen    Observation
	holder  string
	expires time.Time
}

// See takes in the state of the Lease after the change made at the given time,
// nil after a deletion, and reports an Overlap if the change made one.
func (a *Audit) See(l *Lease, at time.Time) (Overlap, bool) {
	first, until := a.holder, a.expires
	a.seen.Observe(l, at)
	second := a.seen.Holder()
	if l != nil {
		a.holder, a.expires = second, a.seen.Expires()
	}
	if first == "" || second == "" || first == second || !at.Before(until) {
		return Overlap{}, false
	}
	return Overlap{First: first, Second: second, From: at, Until: until, ResourceVersion: l.ResourceVersion}, true
}
