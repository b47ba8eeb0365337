package lease

import (
	"context"
	"iter"
	"math"
)

// Observe yields the current Holding of a Lease, and each new one: when a holder
// takes the Lease, releases it, or lets it expire, and when the Lease is deleted.
// It ends with an error when ctx ends, the store is closed, or the watch of the Client
// ends with an error. A Lease expires when Observe has not seen its record change for
// leaseDurationSeconds. For the first holder that time starts with the call.
//
// A slow loop may miss a Holding that has ended, but never the current one.
func Observe(ctx context.Context, leases Client, namespace, name string) iter.Seq2[Holding, error] {
	return func(yield func(Holding, error) bool) {
		c := leases.Clock()
		var o Observation
		var last Holding
		begun := false
		// watch follows the Lease until it expires, and reports whether the loop goes on. It
		// begins with the current state, as the last ones may not have been read by then.
		watch := func() bool {
			watching, end := context.WithCancel(ctx)
			defer end()
			expiry := c.AfterFunc(math.MaxInt64, end)
			defer expiry.Stop()
			for l, err := range follow(watching, leases, namespace, name, "") {
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

// same reports whether h and other have the same holder and term.
func (h Holding) same(other Holding) bool {
	return h.Holder == other.Holder && (h.Holder == "" || h.LeaseTransitions == other.LeaseTransitions)
}
