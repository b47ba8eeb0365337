package registry

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// maxSlow is how many validations that may take long a store runs at once. Others wait for one of them.
const maxSlow = 4

// validate returns a 422 with the problems of a write, or nil, and warns of tolerated ones; old is nil on a create. named is the kind that the error names.
func (r *Resource) validate(ctx context.Context, req *Request, o, old kinds.Object, named meta.GroupKind) error {
	name := o.GetObjectMeta().Name
	o, err := r.Kind.AsReceived(ctx, req.Version, o)
	if err != nil {
		return err
	}
	if old, err = r.Kind.AsReceived(ctx, req.Version, old); err != nil {
		return err
	}
	errs, err := r.check(ctx, req.Version, req.Sub, o, old)
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool {
		if e.Type != field.TypeTolerated {
			return false
		}
		req.warn(e.Error())
		return true
	})
	if err == nil && len(errs) > 0 {
		err = errs.Status(named, name)
	}
	return err
}

// check does the validation. One that may take long, such as of a definition with many CEL rules, cannot be cancelled. It runs in a
// goroutine, which the request leaves at its end, as in a real server. The error is that end. Close of the store waits for the
// goroutines, and keeps their places.
func (r *Resource) check(ctx context.Context, version int, sub *kinds.Subresource, o, old kinds.Object) (field.Errors, error) {
	k := r.Kind
	if !k.Strategy().SlowValidation {
		return problems(k, version, sub, o, old), nil
	}
	st := r.st
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-st.hub.Done():
		return problems(k, version, sub, o, old), nil // no goroutine may outlive Close
	case st.slow <- struct{}{}:
	}
	type outcome struct {
		errs     field.Errors
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-st.slow }()
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
	case sub != nil && sub.Body == nil:
		return k.ValidateSubresource(sub, version, o, old)
	}
	return k.ValidateUpdate(version, o, old)
}
