package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
)

// contend leads, term after term, until ctx ends, the command has ended, or there is no way
// to go on. It returns the exit code.
func (o *options) contend(ctx context.Context, out, errs io.Writer) (int, error) {
	config, err := o.config()
	if err != nil {
		return exitFailed, err
	}
	config.Logger = o.log
	c, err := client.New(config)
	if err != nil {
		return exitFailed, err
	}
	defer c.Close()
	o.lease.Logger = o.log
	contender, err := lease.NewContender(client.In(c, lease.Kind()), o.lease)
	if err != nil {
		return exitUsage, err
	}
	for {
		term := term{code: exitUnfinished}
		err := contender.Run(ctx, func(ctx context.Context, h lease.Holding) {
			fmt.Fprintln(out, h.Holder, "leads, with the fencing token", h.FencingToken)
			term = o.lead(ctx, h, out, errs)
			term.led = true
			fmt.Fprintln(out, h.Holder, "stops:", term.reason(ctx))
		})
		switch {
		case term.finished: // whatever becomes of the release
			return term.code, errors.Join(term.err, term.unlessEnded(ctx, err))
		case ctx.Err() != nil && o.command == nil:
			return 0, term.unlessEnded(ctx, err)
		case ctx.Err() != nil:
			return term.code, term.unlessEnded(ctx, err)
		case !errors.Is(err, lease.ErrLost):
			return exitFailed, err
		case o.once:
			return exitUnfinished, err
		}
		o.log.Warn("the term has ended, waiting for the Lease again", "err", err)
	}
}

// term is the result of one time of leading.
type term struct {
	led      bool
	finished bool // the command ended before the term
	code     int  // of the command
	err      error
}

// reason returns why the leader stops.
func (t term) reason(ctx context.Context) error {
	if t.finished {
		return fmt.Errorf("the command has ended with code %d", t.code)
	}
	return context.Cause(ctx)
}

// lead runs the command until ctx ends. Without a command it only waits.
func (o *options) lead(ctx context.Context, h lease.Holding, out, errs io.Writer) term {
	if o.command == nil {
		<-ctx.Done()
		return term{}
	}
	return child{
		args: o.command, out: out, errs: errs, grace: o.grace,
		env: []string{
			fmt.Sprint("KUBECOORD_FENCING_TOKEN=", h.FencingToken),
			"KUBECOORD_HOLDER=" + h.Holder,
			"KUBECOORD_LEASE=" + o.lease.Namespace + "/" + o.lease.Name,
		},
	}.run(ctx)
}

// unlessEnded returns err, or nil if err only says that ctx has ended. After a term it may say
// that the Lease was not released.
func (t term) unlessEnded(ctx context.Context, err error) error {
	if err == ctx.Err() || ctx.Err() != nil && !t.led {
		return nil
	}
	return err
}
