package lease

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/watch"
)

// follow yields the current state of a Lease and then each new one; nil means that
// there is no Lease. Given the resourceVersion of a state, it yields only later
// ones. It starts again with the current state if that version has expired. It ends
// with the error of ctx or of the Client.
func follow(ctx context.Context, leases Client, namespace, name, after string) iter.Seq2[*Lease, error] {
	return func(yield func(*Lease, error) bool) {
		for ; ; after = "" {
			begun := after != "" // the current state is known
			for ev, err := range leases.Watch(ctx, store.WatchOptions{
				Namespace: namespace, Name: name, ResourceVersion: after,
				AllowWatchBookmarks: true, // without a Lease, the first bookmark is the only sign of the current state
			}) {
				var l *Lease
				switch {
				case errors.Is(err, store.ErrExpired):
					continue // it is the last element
				case err != nil:
					yield(nil, err)
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

// follower follows the Contender's Lease in a goroutine of its own, so that one watch lasts while the
// Contender does other things. The zero value follows nothing.
type follower struct {
	end  context.CancelFunc // nil in the zero value
	done chan struct{}      // closed when the goroutine has ended

	mu    sync.Mutex    // guards all below
	state *Lease        // the last one
	err   error         // the end of the watch
	fresh bool          // wait has not returned the state or err yet
	news  chan struct{} // closed if fresh
}

// startFollowing follows the Lease from a state, until stop is called.
func (c *Contender) startFollowing(ctx context.Context, from *Lease) *follower {
	after := ""
	if from != nil {
		after = from.ResourceVersion
	}
	f := &follower{done: make(chan struct{}), news: make(chan struct{})}
	ctx, f.end = context.WithCancel(ctx)
	go func() {
		defer close(f.done)
		for l, err := range follow(ctx, c.leases, c.opts.Namespace, c.opts.Name, after) {
			f.put(l, err)
		}
	}()
	return f
}

// put hands over a state, or the end of the watch.
func (f *follower) put(l *Lease, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state, f.err = l, err
	if !f.fresh {
		f.fresh = true
		close(f.news)
	}
}

// stop ends the watch and waits for its goroutine.
func (f *follower) stop() {
	if f.end != nil {
		f.end()
		<-f.done
	}
}

// wait waits for a new state of the Lease and returns it; states between two calls are left out. It
// returns false at the given time, the error of ctx at its end, and the error of the watch once.
func (c *Contender) wait(ctx context.Context, f *follower, until time.Time) (*Lease, bool, error) {
	waiting, cancel := clock.WithDeadline(ctx, c.clock, until, context.DeadlineExceeded)
	defer cancel()
	for {
		f.mu.Lock()
		l, err, fresh, news := f.state, f.err, f.fresh, f.news
		if fresh {
			f.fresh, f.news = false, make(chan struct{})
		}
		f.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		case fresh:
			return l, err == nil, err
		case waiting.Err() != nil:
			return nil, false, nil
		}
		select {
		case <-news:
		case <-waiting.Done():
		}
	}
}
