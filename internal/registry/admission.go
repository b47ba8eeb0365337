package registry

import (
	"context"

	"github.com/kubecoord/kubecoord/internal/kinds"
)

// This file asks the Admission of the store about writes (upstream: apiserver, the handlers of endpoints/handlers and the
// functions that they pass to registry/generic/registry, Store).

// admit lets the Admission change or refuse the next state of a write, and returns it. old is nil on a create.
func (r *Resource) admit(ctx context.Context, req *Request, op kinds.Operation, o, old kinds.Object) (kinds.Object, error) {
	if r.st.admission == nil {
		return o, nil
	}
	a := r.attributes(req, op)
	a.Object, a.Old = o, old
	if err := r.st.admission.Admit(ctx, a); err != nil {
		return nil, err
	}
	r.dedupOwners(a.Object.GetObjectMeta(), req, afterAdmission)
	return a.Object, nil
}

// admitted lets the Admission refuse a write that was prepared and validated. A write through a body of a subresource is shown as
// the body of the new state, unless it creates the body.
func (r *Resource) admitted(ctx context.Context, req *Request, op kinds.Operation, o, old kinds.Object) (err error) {
	if r.st.admission == nil {
		return nil
	}
	a := r.attributes(req, op)
	a.Object, a.Old = o, old
	if a.Name == "" {
		a.Name = o.GetObjectMeta().Name // was generated
	}
	if a.Kind != r.Kind && old != nil {
		if a.Object, err = req.Sub.Read(o); err != nil {
			return err
		}
		if a.Old, err = req.Sub.Read(old); err != nil {
			return err
		}
	}
	return r.st.admission.Validate(ctx, a)
}

// admitDeletion lets the Admission refuse the deletion of an object.
func (r *Resource) admitDeletion(ctx context.Context, req Request, opts kinds.DeleteOptions, current *Item) error {
	if r.st.admission == nil || req.admitted {
		return nil
	}
	return r.askAboutDeletion(ctx, req, opts, current)
}

// askAboutDeletion is a function of its own so that a store without Admission allocates nothing for it.
func (r *Resource) askAboutDeletion(ctx context.Context, req Request, opts kinds.DeleteOptions, current *Item) error {
	a := r.attributes(&req, kinds.OperationDelete)
	a.Old, a.Options, a.DryRun = current.obj, opts, kinds.IsDryRun(opts.DryRun)
	if req.unnamed {
		a.Name = ""
	}
	if err := r.st.admission.Admit(ctx, a); err != nil {
		return err
	}
	return r.st.admission.Validate(ctx, a)
}

// attributes describes a write without its objects.
func (r *Resource) attributes(req *Request, op kinds.Operation) *kinds.Attributes {
	a := &kinds.Attributes{
		Operation: op, Resource: r.Kind, ResourceVersion: req.Version, Subresource: req.Sub, Kind: r.Kind, Version: req.Version,
		Namespace: req.Namespace, Name: req.Name, Options: req.Options, DryRun: req.DryRun, Warn: req.warn,
	}
	if req.Sub != nil && req.Sub.Body != nil {
		a.Kind, a.Version = req.Sub.Body, 0
	}
	return a
}
