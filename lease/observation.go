package lease

import "time"

// Observation computes when a Lease expires for one observer:
// leaseDurationSeconds after the observer saw the record change, by the
// observer's own clock. It never compares that clock with the times in the Lease,
// so clocks may differ or jump. The electors of client-go do the same
// (tools/leaderelection).
//
// The zero value has observed no Lease. Only one goroutine may use it at a time.
type Observation struct {
	spec LeaseSpec
	at   time.Time // when spec was first seen
	seen bool
}

// Observe adds the state of the Lease at the given time, nil if there is none, and
// reports whether the record changed. strategy and preferredHolder are not part
// of the record, because the holder does not write them.
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
func (o *Observation) Holder() string {
	if o.spec.HolderIdentity == nil {
		return ""
	}
	return *o.spec.HolderIdentity
}

// Expires returns the time when the Lease expires unless the record changes. It
// returns the zero time if there is no Lease, holder or duration.
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

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
