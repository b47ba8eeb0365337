package registry

import (
	"context"
	"sync"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
)

// This file validates objects of kinds whose validation may take long and cannot be cancelled, such as definitions with many CEL
// rules. A real server answers such a request when its time is over, and goes on validating.

// maxSlow is how many such validations a store runs at once. Others wait for one of them.
const maxSlow = 4

// slow runs validations in goroutines, which a request leaves at its end.
type slow struct {
	running sync.WaitGroup
	mu      sync.Mutex    // guards all below
	slots   chan struct{} // has one value for each that runs; nil before the first
	closed  bool
}

// validated is the result of a validation, or the value that it panicked with.
type validated struct {
	errs     field.Errors
	panicked any
}

// run returns the result of a validation, or the error of ctx if that ends first. After close it runs on the caller's goroutine.
func (s *slow) run(ctx context.Context, validate func() field.Errors) (field.Errors, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case s.places() <- struct{}{}:
	}
	leave := func() { <-s.places() }
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		defer leave()
		return validate(), nil
	}
	s.running.Add(1)
	s.mu.Unlock()
	done := make(chan validated, 1)
	go func() {
		defer s.running.Done()
		defer leave()
		var v validated
		defer func() {
			v.panicked = recover()
			done <- v
		}()
		v.errs = validate()
	}()
	select {
	case v := <-done:
		if v.panicked != nil {
			panic(v.panicked)
		}
		return v.errs, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// places returns the slots, which most stores never need.
func (s *slow) places() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots == nil {
		s.slots = make(chan struct{}, maxSlow)
	}
	return s.slots
}

// close waits for the validations that run.
func (s *slow) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
}

// validate returns the problems of a write; old is nil on a create. The error is the end of the request.
func (r *Resource) validate(req *Request, o, old kinds.Object) (field.Errors, error) {
	k, version, sub := r.Kind, req.Version, req.Sub
	if !k.ValidatesSlowly() {
		return problems(k, version, sub, o, old), nil
	}
	return r.st.slow.run(req.asking.ctx, func() field.Errors { return problems(k, version, sub, o, old) })
}

func problems(k *kinds.Kind, version int, sub *kinds.Subresource, o, old kinds.Object) field.Errors {
	switch {
	case old == nil:
		return k.ValidateCreate(version, o)
	case sub != nil && sub.Body == nil:
		return k.ValidateSubresource(sub, version, o, old)
	}
	return k.ValidateUpdate(version, o, old)
}
