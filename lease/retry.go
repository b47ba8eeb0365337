package lease

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// errSlow means that a Client has not answered in time.
var errSlow = errors.New("lease: no answer within half of RenewDeadline")

// isTemporary reports whether a later request may succeed: if the server was too busy, failed or
// gave no answer. It also does for the end of a context. What an error says of itself counts more
// than its Status: a 404 may come from a proxy.
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

// isMissing reports whether an answer says that there is no Lease of that name. A 404 that names
// nothing, or something else, says nothing about the Lease.
func (c *Contender) isMissing(err error) bool {
	if !errors.Is(err, store.ErrNotFound) || isTemporary(err) {
		return false
	}
	e, ok := errors.AsType[*meta.StatusError](err)
	if !ok {
		return true
	}
	d := e.Status.Details
	return d != nil && d.Kind == Kind().Registered().Info().Plural && d.Name == c.opts.Name
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

// Error returns both texts, but one that is in the other only once.
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

// inTime calls do with a context that ends after half of RenewDeadline, so that there is time for
// another request if one gets no answer (upstream: client-go, resourcelock.NewFromKubeconfig).
func (c *Contender) inTime(ctx context.Context, do func(ctx context.Context) error) error {
	limited, cancel := clock.WithDeadline(ctx, c.clock, c.clock.Now().Add(c.opts.RenewDeadline/2), errSlow)
	defer cancel()
	err := do(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return because(errSlow, err)
	}
	return err
}

// pauseAfter waits for RetryPeriod after a temporary error. It returns any other error, and the
// error of ctx if it ends.
func (c *Contender) pauseAfter(ctx context.Context, err error) error {
	if ctx.Err() == nil && !isTemporary(err) {
		return err
	}
	if ctx.Err() == nil {
		c.contact(err)
	}
	if _, _, ended := c.wait(ctx, new(follower), c.next(c.clock.Now())); ended != nil {
		return because(ended, err)
	}
	return nil
}
