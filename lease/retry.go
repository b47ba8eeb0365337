package lease

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// errSlow means that a Client has not answered in time.
var errSlow = errors.New("lease: no answer within half of RenewDeadline")

// isTemporary reports whether a later request may succeed: if the server was too busy, failed or
// gave no answer. It also does for the end of a context.
func isTemporary(err error) bool {
	if errors.Is(err, errSlow) {
		return true
	}
	if e, ok := errors.AsType[*meta.StatusError](err); ok {
		return e.Status.Code == http.StatusTooManyRequests || e.Status.Code >= http.StatusInternalServerError
	}
	e, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && e.Temporary()
}

// inTime calls do with a context that ends after half of RenewDeadline, so that there is time for
// another request if one gets no answer (upstream: client-go, resourcelock.NewFromKubeconfig).
func (c *Contender) inTime(ctx context.Context, do func(ctx context.Context) error) error {
	limited, cancel := clock.WithDeadline(ctx, c.clock, c.clock.Now().Add(c.opts.RenewDeadline/2), errSlow)
	defer cancel()
	err := do(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return errors.Join(errSlow, err)
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
	c.pauseUntil(ctx, c.clock.Now().Add(c.opts.RetryPeriod))
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return errors.Join(ended, err)
	} else if ended != nil {
		return err
	}
	return nil
}

// pauseUntil waits until a time or the end of ctx.
func (c *Contender) pauseUntil(ctx context.Context, until time.Time) {
	waiting, cancel := atwork.WithDeadline(atwork.With(ctx, c.worker), c.clock, until, context.DeadlineExceeded)
	defer cancel()
	for waiting.Err() == nil {
		if seen := c.worker.Wakes(); waiting.Err() == nil && c.worker.Rest(seen) {
			<-waiting.Done()
		}
	}
}
