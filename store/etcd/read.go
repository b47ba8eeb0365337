package etcd

import (
	"context"
	"errors"
	"time"
)

// Reads are tried again, each time at the next endpoint, because an endpoint that is
// stopped or cut off gives no error until its connection is found dead. The first attempt
// is short, so that the other endpoints are reached soon; the next ones are longer, so
// that a slow etcd can answer.
const (
	firstAttempt   = 2 * time.Second
	longestAttempt = 16 * time.Second
	readTimeout    = 60 * time.Second
)

// read runs a read until it has an answer, at most until ctx ends or for readTimeout.
func read(ctx context.Context, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	for patience := firstAttempt; ; patience = min(2*patience, longestAttempt) {
		try, cancel := context.WithTimeout(ctx, patience)
		err := attempt(try)
		late := try.Err() != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded)
		cancel()
		if !late {
			return err
		}
	}
}
