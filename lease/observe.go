package lease

import (
	"context"
	"iter"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
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
		var o Observation
		c := leases.Clock()
		now, worker := c.Now, atwork.New(c)
		worker.Work()
		var last Holding
		after := "" // the last resourceVersion seen
		for first := true; ; {
			until := o.Expires()
			if o.Expired(now()) {
				until, after = time.Time{}, "" // it may have expired since it was seen
			}
			states := follow(atwork.With(ctx, worker), leases, namespace, name, after, until)
			after = "" // read the Lease again at that time
			for l, err := range states {
				if err != nil {
					worker.Away()
					yield(Holding{}, err)
					return
				}
				at := now()
				o.Observe(l, at)
				h := newHolding(l)
				if o.Expired(at) {
					h.Holder = ""
				}
				if first || !h.same(last) {
					first, last = false, h
					worker.Away()
					if !yield(h, nil) {
						return
					}
					worker.Work()
				}
				if h.Holder != "" && (until.IsZero() || o.Expires().Before(until)) {
					after = l.ResourceVersion
					break // follow with the new time of expiry
				}
			}
		}
	}
}

// same reports whether h and other have the same holder and term.
func (h Holding) same(other Holding) bool {
	return h.Holder == other.Holder && (h.Holder == "" || h.LeaseTransitions == other.LeaseTransitions)
}
