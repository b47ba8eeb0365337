package lease

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/store"
)

// The types of events that follow tells apart (package watch).
const (
	deleted  = "DELETED"
	bookmark = "BOOKMARK"
)

// follow yields the present state of a Lease, nil where there is none, and then
// each new one; or, given the resourceVersion of a state, those that follow it.
// Where history does not reach far enough, or the watch has lasted for its time,
// it starts again with the present state. The sequence ends at the given time, if
// it is not zero; in all other cases its last element is an error: that of ctx, or
// store.ErrClosed.
func follow(ctx context.Context, leases Client, namespace, name, after string, until time.Time) iter.Seq2[*Lease, error] {
	return func(yield func(*Lease, error) bool) {
		watching, cancel := ctx, context.CancelFunc(func() {})
		if !until.IsZero() {
			watching, cancel = atwork.WithDeadline(ctx, leases.Clock(), until, context.DeadlineExceeded)
		}
		defer cancel()
		for ; ; after = "" {
			told := after != "" // the present state
			for ev, err := range leases.Watch(watching, store.WatchOptions{
				Namespace: namespace, Name: name, ResourceVersion: after,
				AllowWatchBookmarks: true, // one follows the present state, if there is any
			}) {
				var l *Lease
				switch {
				case errors.Is(err, store.ErrExpired):
					continue // it is the last element
				case err != nil:
					if watching.Err() == nil || ctx.Err() != nil {
						yield(nil, err)
					}
					return
				case ev.Type == bookmark && told:
					continue
				case ev.Type != bookmark && ev.Type != deleted:
					l = ev.Object
				}
				told = true
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// follow is the same for the Lease of a Contender, from the present state on.
func (c *Contender) follow(ctx context.Context, until time.Time) iter.Seq2[*Lease, error] {
	return follow(atwork.With(ctx, c.worker), c.leases, c.opts.Namespace, c.opts.Name, "", until)
}
