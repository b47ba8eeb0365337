package etcd

import (
	"context"
	"errors"
	"time"
)

// Reads are tried again, each time at the next endpoint, because an endpoint that is
// stopped or cut off gives no error until its connection is found dead. All endpoints but
// one have a short time to answer, so that the others are reached soon. Then the time is
// long: without a majority etcd itself answers with an error, after up to 14 seconds.
const (
	shortAttempt = 2 * time.Second
	longAttempt  = 16 * time.Second
	readTimeout  = 60 * time.Second
)

// read runs a read until it has an answer, at most until ctx ends or for readTimeout.
func (e *etcd) read(ctx context.Context, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	for others := len(e.client.Endpoints()) - 1; ; others-- {
		patience := longAttempt
		if others > 0 {
			patience = shortAttempt
		}
		try, cancel := context.WithTimeout(ctx, patience)
		err := attempt(try)
		late := try.Err() != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded)
		cancel()
		if !late {
			return err
		}
	}
}
