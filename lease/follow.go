package lease

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// follow yields the current state of a Lease and then each new one; nil means that
// there is no Lease. Given the resourceVersion of a state, it yields only later
// ones. It starts again with the current state if that version has expired. If until is
// not zero, the sequence ends at that time without an error. Otherwise it ends with the
// error of ctx or of the Client.
func follow(ctx context.Context, leases Client, namespace, name, after string, until time.Time) iter.Seq2[*Lease, error] {
	return func(yield func(*Lease, error) bool) {
		watching, cancel := ctx, context.CancelFunc(func() {})
		if !until.IsZero() {
			watching, cancel = atwork.WithDeadline(ctx, leases.Clock(), until, context.DeadlineExceeded)
		}
		defer cancel()
		for ; ; after = "" {
			begun := after != "" // the current state is known
			for ev, err := range leases.Watch(watching, store.WatchOptions{
				Namespace: namespace, Name: name, ResourceVersion: after,
				AllowWatchBookmarks: true, // without a Lease, the first bookmark is the only sign of the current state
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
				case ev.Type == watch.Bookmark && begun:
					continue
				case ev.Type != watch.Bookmark && ev.Type != watch.Deleted:
					l = ev.Object
				}
				begun = true
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// follow follows the Contender's own Lease.
func (c *Contender) follow(ctx context.Context, after string, until time.Time) iter.Seq2[*Lease, error] {
	return follow(atwork.With(ctx, c.worker), c.leases, c.opts.Namespace, c.opts.Name, after, until)
}
