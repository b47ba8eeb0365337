package lease

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"
)

// Observation computes when a Lease expires for one observer: leaseDurationSeconds after the
// observer saw the record change, by its own clock. It never compares that clock with the times
// in the Lease, so clocks may differ or jump (upstream: client-go, tools/leaderelection).
//
// The zero value has observed no Lease. Only one goroutine may use it at a time.
type Observation struct {
	spec LeaseSpec
	at   time.Time // when spec was first seen
	seen bool
}

// Observe adds the state of the Lease at the given time, nil if there is none, and reports whether
// the record changed: all that the holder writes, so neither strategy nor preferredHolder.
func (o *Observation) Observe(l *Lease, at time.Time) bool {
	if l == nil {
		changed := o.seen
		*o = Observation{}
		return changed
	}
	if o.seen && sameRecord(&o.spec, &l.Spec) {
		return false
	}
	// The caller may change the values behind the pointers later.
	*o = Observation{spec: LeaseSpec{
		HolderIdentity:       clone(l.Spec.HolderIdentity),
		LeaseDurationSeconds: clone(l.Spec.LeaseDurationSeconds),
		AcquireTime:          clone(l.Spec.AcquireTime),
		RenewTime:            clone(l.Spec.RenewTime),
		LeaseTransitions:     clone(l.Spec.LeaseTransitions),
	}, at: at, seen: true}
	return true
}

// Holder returns the holder of the Lease, even if expired; "" if there is none.
func (o *Observation) Holder() string { return valueOf(o.spec.HolderIdentity) }

// Expires returns the time when the Lease expires unless the record changes. It is zero if there
// is no Lease, holder or duration.
func (o *Observation) Expires() time.Time {
	if o.Holder() == "" || o.spec.LeaseDurationSeconds == nil {
		return time.Time{}
	}
	return o.at.Add(time.Duration(*o.spec.LeaseDurationSeconds) * time.Second)
}

// Expired reports whether the Lease may be taken at the given time.
func (o *Observation) Expired(now time.Time) bool { return !now.Before(o.Expires()) }

func sameRecord(a, b *LeaseSpec) bool {
	return same(a.HolderIdentity, b.HolderIdentity) &&
		same(a.LeaseDurationSeconds, b.LeaseDurationSeconds) &&
		same(a.LeaseTransitions, b.LeaseTransitions) &&
		a.AcquireTime.Equal(b.AcquireTime) && a.RenewTime.Equal(b.RenewTime)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Holding is a period in which the Lease has one holder, or none.
type Holding struct {
	// Holder is the holder's identity, "" if nobody holds the Lease.
	Holder string
	// FencingToken is the resourceVersion of the Lease when the Holding began, so it grows with
	// each Holding. An observer that missed the beginning gets the first resourceVersion that it
	// saw. It is 0 if there is no Lease. See "Fencing" in the package comment.
	FencingToken uint64
	// LeaseTransitions is the field of the Lease, 0 if absent.
	LeaseTransitions int32
}

func newHolding(l *Lease) Holding {
	if l == nil {
		return Holding{}
	}
	token, _ := strconv.ParseUint(l.ResourceVersion, 10, 64) // written by the store
	return Holding{Holder: valueOf(l.Spec.HolderIdentity), FencingToken: token, LeaseTransitions: valueOf(l.Spec.LeaseTransitions)}
}

// same reports whether h and other have the same holder and term.
func (h Holding) same(other Holding) bool {
	return h.Holder == other.Holder && (h.Holder == "" || h.LeaseTransitions == other.LeaseTransitions)
}

// Observe yields the current Holding of a Lease, and each new one: when a holder takes the Lease,
// releases it, or lets it expire, and when the Lease is deleted. A Lease expires when Observe has
// not seen its record change for leaseDurationSeconds, at first since the call. A slow loop may
// miss a Holding that has ended, but never the current one. Observe ends with an error when ctx
// ends, the store is closed, or the watch of the Client fails.
func Observe(ctx context.Context, leases Client, namespace, name string) iter.Seq2[Holding, error] {
	return func(yield func(Holding, error) bool) {
		c := leases.Clock()
		var o Observation
		var last Holding
		begun := false
		// watch follows the Lease from its current state until it expires. It reports whether
		// the loop goes on.
		watch := func() bool {
			watching, end := context.WithCancel(ctx)
			defer end()
			expiry := c.AfterFunc(math.MaxInt64, end)
			defer expiry.Stop()
			for l, err := range states(watching, leases, namespace, name, "") {
				switch {
				case err != nil && watching.Err() != nil && ctx.Err() == nil:
					return true
				case err != nil:
					yield(Holding{}, err)
					return false
				}
				now := c.Now()
				o.Observe(l, now)
				h := newHolding(l)
				if o.Expired(now) {
					expiry.Stop()
					h.Holder = ""
				} else {
					expiry.Reset(o.Expires().Sub(now))
				}
				if begun && h.same(last) {
					continue
				}
				begun, last = true, h
				if !yield(h, nil) {
					return false
				}
			}
			return true
		}
		for watch() {
		}
	}
}

// Overlap is a period in which a Lease had two holders: the second one took it before it expired,
// and the first one had not released it.
type Overlap struct {
	First, Second   string    // identities
	From, Until     time.Time // when the second one took the Lease, and when it expired
	ResourceVersion string    // of the Lease that the second one wrote
}

// String describes the Overlap in one line.
func (o Overlap) String() string {
	return fmt.Sprintf("%q took the Lease at %s, %s before the Lease of %q ran out",
		o.Second, o.From.UTC().Format(time.RFC3339Nano), o.Until.Sub(o.From), o.First)
}

// Audit checks the history of a Lease for two holders at once. A Lease expires
// leaseDurationSeconds after it was written; see Observation. After a deletion the holder still
// counts until then, because it may not know. The zero value has seen no history. Only one
// goroutine may use it at a time.
type Audit struct {
	seen    Observation
	holder  string
	expires time.Time
}

// See adds the state of the Lease after a change at the given time, nil after a deletion. It
// returns the Overlap that the change began, and reports whether it began one.
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
