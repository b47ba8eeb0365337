package lease

import (
	"context"
	"iter"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
)

// Observe tells who holds a Lease: at once, and whenever another holding begins
// or one ends, until ctx ends or the store is closed, whose error is the last
// element. Nobody holds a Lease that is not there, has been released, or has
// expired as observed: its record was not seen to change for
// leaseDurationSeconds. The holder that is found at the start is given that time
// anew, as contenders do.
//
// A loop that takes its time misses holdings in between, never the present one.
func Observe(ctx context.Context, leases Client, namespace, name string) iter.Seq2[Holding, error] {
	return func(yield func(Holding, error) bool) {
		var o Observation
		c := leases.Clock()
		now, worker := c.Now, atwork.New(c)
		worker.Work()
		defer worker.Away()
		var last Holding
		after := "" // what was seen last
		for first := true; ; {
			until := o.Expires()
			if o.Expired(now()) {
				until, after = time.Time{}, "" // it may have run out since it was seen
			}
			states := follow(atwork.With(ctx, worker), leases, namespace, name, after, until)
			after = "" // at the time it is worth a new look
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
					break // to be there at its end
				}
			}
		}
	}
}

// same reports whether h is the same holding as another, as far as one can tell.
func (h Holding) same(other Holding) bool {
	return h.Holder == other.Holder && (h.Holder == "" || h.LeaseTransitions == other.LeaseTransitions)
}
