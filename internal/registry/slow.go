package registry

import (
	"context"
	"math/bits"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
)

// A store runs at most maxSlow validations at once that may take long and are of one class of sizes. Others wait for one of them. A small
// object does not wait for large ones, which may be of another client. A real server has no such limit; beside 400 large ones each is slow.
const (
	maxSlow     = 4
	slowClasses = 5 // up to 16, 64 and 256 KiB, up to 1 MiB, and larger ones
)

// slow has a value for each validation that runs and may take long, by the class of its size.
type slow [slowClasses]chan struct{}

func newSlow() (s slow) {
	for i := range s {
		s[i] = make(chan struct{}, maxSlow)
	}
	return s
}

// of returns the class of a size in bytes.
func (s *slow) of(size int) chan struct{} {
	return s[min(bits.Len(uint(size)>>13)/2, slowClasses-1)]
}

// close waits until all validations have ended, at most closeWait.
func (s *slow) close() {
	end := time.NewTimer(closeWait)
	defer end.Stop()
	for _, class := range s {
		for range maxSlow {
			select {
			case class <- struct{}{}:
			case <-end.C:
				return // a function of the user does not return
			}
		}
	}
}

// closeWait is how long Close waits for functions of the user: the default deadline of the requests that have called them.
const closeWait = time.Minute

// validate returns a 422 with the problems of a write, or nil, and warns of tolerated ones; old is nil on a create. The error names the
// kind that the body names.
func (r *Resource) validate(ctx context.Context, req *Request, o, old, body kinds.Object) error {
	name := o.GetObjectMeta().Name
	o, err := r.Kind.AsReceived(ctx, req.Version, o)
	if err != nil {
		return err
	}
	if old, err = r.Kind.AsReceived(ctx, req.Version, old); err != nil {
		return err
	}
	var errs field.Errors
	if r.Kind.ValidatesSlowly(req.Version, req.Sub) {
		errs, err = r.check(ctx, req.Version, req.Sub, o, old)
	} else {
		errs = problems(r.Kind, req.Version, req.Sub, o, old)
	}
	if problem := req.Guard.malformedIn(o, old == nil); problem != nil && err == nil {
		errs = kinds.WithMalformed(errs, problem, old == nil)
	}
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool {
		if e.Type != field.TypeTolerated {
			return false
		}
		req.warn(e.Error())
		return true
	})
	if err == nil && len(errs) > 0 {
		err = errs.Status(r.Kind.ErrorKind(body), name)
	}
	return err
}

// check does a validation that may take long, such as of a definition with many CEL rules, and cannot be cancelled. It runs in a
// goroutine, which the request leaves at its end, as in a real server. The error is that end. Close of the store waits for the
// goroutines, and keeps their places.
func (r *Resource) check(ctx context.Context, version int, sub *kinds.Subresource, o, old kinds.Object) (field.Errors, error) {
	k, st, size := r.Kind, r.st, r.Kind.Type().Size(o)
	if old != nil {
		size += k.Type().Size(old)
	}
	place := st.slow.of(size)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-st.hub.Done():
		return problems(k, version, sub, o, old), nil // no goroutine may outlive Close
	case place <- struct{}{}:
	}
	type outcome struct {
		errs     field.Errors
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-place }()
		var end outcome
		defer func() {
			end.panicked = recover()
			done <- end
		}()
		end.errs = problems(k, version, sub, o, old)
	}()
	select {
	case end := <-done:
		if end.panicked != nil {
			panic(end.panicked)
		}
		return end.errs, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func problems(k *kinds.Kind, version int, sub *kinds.Subresource, o, old kinds.Object) field.Errors {
	switch {
	case old == nil:
		return k.ValidateCreate(version, o)
	case sub != nil && sub.Body != nil:
		sub = nil
	}
	return k.ValidateUpdate(version, sub, o, old)
}
