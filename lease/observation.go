package lease

import (
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Observation tells how long others have to respect the holder of a Lease, by
// what one observer saw of it: leaseDurationSeconds count from the moment the
// observer saw the record change, on the observer's own clock. The times in the
// Lease are never compared with it, so that clocks that differ, or jump, do no
// harm. This is how client-go's electors judge (tools/leaderelection).
//
// The zero value has seen nothing. It is for one goroutine.
type Observation struct {
	spec LeaseSpec
	at   time.Time // when spec was first seen
	seen bool
}

// Observe takes in a state of the Lease seen at the given time, nil where
// there is none, and reports whether the record changed. A change of strategy or
// preferredHolder is none: the holder had no part in it.
func (o *Observation) Observe(l *Lease, at time.Time) bool {
	if l == nil {
		changed := o.seen
		*o = Observation{}
		return changed
	}
	if o.seen && sameRecord(&o.spec, &l.Spec) {
		return false
	}
	// The pointers of a spec are replaced by whoever changes it, or belong to
	// a copy of the caller's: what they point to is copied.
	*o = Observation{spec: LeaseSpec{
		HolderIdentity:       clone(l.Spec.HolderIdentity),
		LeaseDurationSeconds: clone(l.Spec.LeaseDurationSeconds),
		AcquireTime:          clone(l.Spec.AcquireTime),
		RenewTime:            clone(l.Spec.RenewTime),
		LeaseTransitions:     clone(l.Spec.LeaseTransitions),
	}, at: at, seen: true}
	return true
}

// Holder returns who holds the Lease, expired or not; "" is nobody.
func (o *Observation) Holder() string {
	if o.spec.HolderIdentity == nil {
		return ""
	}
	return *o.spec.HolderIdentity
}

// Expires returns when the Lease runs out unless it is renewed before. The
// zero time means that it is free already: there is none, it has no holder, or
// no duration.
func (o *Observation) Expires() time.Time {
	if o.Holder() == "" || o.spec.LeaseDurationSeconds == nil {
		return time.Time{}
	}
	return o.at.Add(time.Duration(*o.spec.LeaseDurationSeconds) * time.Second)
}

// Expired reports whether the Lease is free to be taken at the given time.
func (o *Observation) Expired(now time.Time) bool { return !now.Before(o.Expires()) }

func sameRecord(a, b *LeaseSpec) bool {
	return same(a.HolderIdentity, b.HolderIdentity) &&
		same(a.LeaseDurationSeconds, b.LeaseDurationSeconds) &&
		same(a.LeaseTransitions, b.LeaseTransitions) &&
		sameTime(a.AcquireTime, b.AcquireTime) && sameTime(a.RenewTime, b.RenewTime)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func sameTime(a, b *meta.MicroTime) bool {
	return a == b || a != nil && b != nil && a.Time.Equal(b.Time)
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
