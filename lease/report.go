package lease

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// contact reports that a request failed and is tried again, or with nil that one succeeded. It
// does so once until that changes.
func (c *Contender) contact(err error) {
	if (err != nil) == c.alone {
		return
	}
	c.alone = err != nil
	if err != nil {
		c.log(slog.LevelWarn, "lease: no contact, trying again", "error", err)
	} else {
		c.log(slog.LevelInfo, "lease: contact again")
	}
	if c.opts.OnContact != nil {
		c.opts.OnContact(err)
	}
}

// observe adds the state of the Lease at a time to what the Contender knows, and reports a new Holding.
func (c *Contender) observe(l *Lease, at time.Time) {
	c.observed.Observe(l, at)
	h := newHolding(l)
	if h.same(c.reported) {
		return
	}
	c.reported = h
	c.log(slog.LevelInfo, "lease: new leader", "holder", h.Holder)
	if c.opts.OnNewLeader != nil {
		c.opts.OnNewLeader(h)
	}
}

func (c *Contender) log(level slog.Level, text string, args ...any) {
	logger := c.opts.Logger
	switch {
	case logger != nil:
	case level < slog.LevelWarn:
		return
	default:
		logger = slog.Default()
	}
	args = append(args, "lease", c.opts.Namespace+"/"+c.opts.Name, "identity", c.opts.Identity)
	logger.Log(context.Background(), level, text, args...)
}

// tolerance is how long after LeaseDuration a leader may be late: that of kube-controller-manager
// (upstream: client-go, leaderelection/healthzadaptor.go).
const tolerance = 20 * time.Second

// Healthy returns an error if the function lead of Run has not returned although the last
// successful renewal began more than LeaseDuration and 20 seconds ago: it does not stop, and
// another may lead. It is a check for httpapi.HealthCheck, never blocks, and may be called from
// any goroutine.
func (c *Contender) Healthy(context.Context) error {
	t := c.leads.Load()
	if t == nil {
		return nil
	}
	if late := c.clock.Now().Sub(t.began) - c.opts.LeaseDuration; late > tolerance {
		return fmt.Errorf("lease: %q still leads %s after its lease %s/%s has expired",
			c.opts.Identity, late.Round(time.Second), c.opts.Namespace, c.opts.Name)
	}
	return nil
}
