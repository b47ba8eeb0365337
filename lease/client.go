package lease

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// states yields the current state of a Lease and then each new one; nil means that there is no
// Lease. Given the resourceVersion of a state, it yields only later ones, or starts again with
// the current one if that version has expired. It ends with the error of ctx or of the Client.
func states(ctx context.Context, leases Client, namespace, name, after string) iter.Seq2[*Lease, error] {
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

// leaseWatch watches the Contender's Lease in a goroutine. The zero value watches nothing.
type leaseWatch struct {
	cancel context.CancelFunc // nil in the zero value
	done   chan struct{}      // closed when the goroutine has ended
	last   chan watched       // capacity 1: the last state that wait has not returned
}

// watched is a state of the Lease, or the error that ended the watch.
type watched struct {
	lease *Lease
	err   error
}

// startWatch watches the Lease from a state, until stop is called.
func (c *Contender) startWatch(ctx context.Context, from *Lease) leaseWatch {
	after := ""
	if from != nil {
		after = from.ResourceVersion
	}
	w := leaseWatch{done: make(chan struct{}), last: make(chan watched, 1)}
	ctx, w.cancel = context.WithCancel(ctx)
	go func() {
		defer close(w.done)
		for l, err := range states(ctx, c.leases, c.opts.Namespace, c.opts.Name, after) {
			select {
			case <-w.last: // a later state replaces it
			default:
			}
			w.last <- watched{l, err}
		}
	}()
	return w
}

func (w *leaseWatch) stop() {
	if w.cancel != nil {
		w.cancel()
		<-w.done
	}
	*w = leaseWatch{}
}

// wait waits for a new state of the Lease, and returns the last one. It returns false at the given
// time, the error of ctx at its end, and the error of the watch once.
func (c *Contender) wait(ctx context.Context, w leaseWatch, until time.Time) (l *Lease, fresh bool, err error) {
	waiting, cancel := clock.WithDeadline(ctx, c.clock, until, context.DeadlineExceeded)
	defer cancel()
	var s watched
	select {
	case s = <-w.last:
	case <-waiting.Done():
		select {
		case s = <-w.last: // it came at the same time
		default:
			return nil, false, ctx.Err()
		}
	}
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	return s.lease, s.err == nil, s.err
}

// errSlow means that a Client has not answered in time.
var errSlow = errors.New("lease: no answer within half of RenewDeadline")

// isTemporary reports whether a later request may succeed; see Client. The method Temporary of an
// error counts more than its Status: a 404 may come from a proxy.
func isTemporary(err error) bool {
	if errors.Is(err, errSlow) {
		return true
	}
	if e, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err); ok {
		return e.Temporary()
	}
	e, ok := errors.AsType[*meta.StatusError](err)
	return ok && (e.Status.Code == http.StatusTooManyRequests || e.Status.Code >= http.StatusInternalServerError)
}

// isMissing reports whether an error means that there is no Lease. A 404 that names nothing or
// another object may come from a proxy.
func (c *Contender) isMissing(err error) bool {
	if !errors.Is(err, store.ErrNotFound) || isTemporary(err) {
		return false
	}
	e, ok := errors.AsType[*meta.StatusError](err)
	if !ok {
		return true
	}
	d := e.Status.Details
	return d != nil && d.Kind == Kind().Info().Plural && d.Name == c.opts.Name
}

// isRace reports whether a write failed because another one came first.
func (c *Contender) isRace(err error) bool {
	return !isTemporary(err) && (errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrAlreadyExists)) || c.isMissing(err)
}

// because returns an error with its cause, in one line. Either may be nil.
func because(err, cause error) error {
	switch {
	case err == nil:
		return cause
	case cause == nil || errors.Is(err, cause):
		return err
	}
	return &caused{err, cause}
}

// caused is an error with its cause. errors.Is and errors.As find both.
type caused struct{ err, cause error }

// Error returns both texts, or only the text that contains the other.
func (e *caused) Error() string {
	text, cause := e.err.Error(), e.cause.Error()
	switch {
	case strings.Contains(text, cause):
		return text
	case strings.Contains(cause, text):
		return cause
	}
	return text + ": " + cause
}

// Unwrap returns both errors.
func (e *caused) Unwrap() []error { return []error{e.err, e.cause} }

// inTime calls do with a context that ends after half of RenewDeadline, to leave time for another
// request (upstream: client-go, resourcelock.NewFromKubeconfig).
func (c *Contender) inTime(ctx context.Context, do func(ctx context.Context) error) error {
	limited, cancel := clock.WithDeadline(ctx, c.clock, c.clock.Now().Add(c.opts.RenewDeadline/2), errSlow)
	defer cancel()
	err := do(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return because(errSlow, err)
	}
	return err
}

// pauseAfter waits for RetryPeriod after a temporary error, and returns any other error.
func (c *Contender) pauseAfter(ctx context.Context, err error) error {
	if ctx.Err() == nil && !isTemporary(err) {
		return err
	}
	if ctx.Err() == nil {
		c.contact(err)
	}
	if _, _, ended := c.wait(ctx, leaseWatch{}, c.next(c.clock.Now())); ended != nil {
		return because(ended, err)
	}
	return nil
}
