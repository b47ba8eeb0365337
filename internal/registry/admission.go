package registry

import (
	"context"
	"errors"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/admission"
)

// This file asks the Admission of a store about its writes (upstream: apiserver, endpoints/handlers, and registry/rest,
// AdmissionToValidateObjectFunc and AdmissionToValidateObjectDeleteFunc). What it gets shares no memory with the store.

// asking holds the attributes for the Admission that all attempts of a write share.
type asking struct {
	resource *kinds.Kind
	version  int
	// nameless leaves out the name: the object is deleted with its collection.
	nameless bool
	// silent is set if the Admission was asked about the request before.
	silent bool
	// owns is set if the object that is admitted belongs to the request, which makes one attempt.
	owns bool
}

// asks prepares a request for the Admission, if there is one.
func (r *Resource) asks(ctx context.Context, req *Request) {
	if r.st.admission != nil {
		req.asking.resource, req.asking.version = r.Kind, req.Version
		req.asking.silent = req.asking.silent || admission.IsBelow(ctx)
	}
}

// asked reports whether the Admission decides about a request.
func (r *Resource) asked(req *Request) bool { return r.st.admission != nil && !req.asking.silent }

// attributes describes the write of an object of the kind k.
func (req *Request) attributes(k *kinds.Kind, o, old kinds.Object) *admission.Attributes {
	a := &admission.Attributes{
		Operation: admission.Update, Resource: req.asking.resource, ResourceVersion: req.asking.version,
		Kind: k, Version: req.Version, Namespace: req.Namespace, Name: req.Name,
		Object: o, Old: old, DryRun: req.DryRun, Warn: req.Warn,
	}
	if req.Sub != nil {
		a.Subresource = req.Sub.Name
	}
	if a.Warn == nil {
		a.Warn = func(string) {}
	}
	a.OnFailure = req.effects.onFailure
	if info := a.Resource.Info(); info.Group == "" && info.Plural == "namespaces" {
		a.Namespace = a.Name // as upstream: a namespace is in itself
	}
	opts := req.Options
	if opts == nil {
		opts = &kinds.WriteOptions{FieldManager: req.FieldManager}
		if req.DryRun {
			opts.DryRun = []string{kinds.DryRunAll}
		}
	}
	a.Options = *opts
	if old == nil {
		a.Operation = admission.Create
	}
	return a
}

// invalidManagers is the warning about managedFields that an Admission has broken.
const invalidManagers = ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: "

// admit asks about a new state, before it is prepared and validated. The Admission may change the result.
func (r *Resource) admit(ctx context.Context, o kinds.Object, current *Item, req *Request) (kinds.Object, error) {
	if err := r.mayCreate(current, req.Name); err != nil {
		return nil, err
	}
	if !r.asked(req) {
		return o, nil
	}
	if !req.asking.owns {
		o = r.Kind.Copy(o)
	}
	managers := o.GetObjectMeta().ManagedFields
	a := req.attributes(r.Kind, o, current.Copy())
	if err := r.st.admission.Admit(ctx, a); err != nil {
		return nil, err
	}
	if err := r.Kind.Managers(req.Sub, req.Version).Check(a.Object.GetObjectMeta().ManagedFields); err != nil {
		a.Object.GetObjectMeta().ManagedFields = managers
		req.warn(invalidManagers + err.Error())
	}
	return a.Object, nil
}

// mayWrite asks about a state that is valid, before it is stored, also if it changes nothing.
func (r *Resource) mayWrite(ctx context.Context, o kinds.Object, current *Item, req *Request) error {
	if err := r.mayCreate(current, o.GetObjectMeta().Name); err != nil {
		return err
	}
	if !r.asked(req) {
		return nil
	}
	k, next, old := r.Kind, r.Kind.Copy(o), current.Copy()
	asked := *req
	if req.Sub != nil && req.Sub.Body != nil && current != nil {
		var errs [2]error
		k, asked.Version = req.Sub.Body, 0
		next, errs[0] = req.Sub.Read(next) // without managers, as upstream
		old, errs[1] = req.Sub.Read(old)
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
	}
	if asked.Name == "" {
		asked.Name = o.GetObjectMeta().Name
	}
	return r.st.admission.Validate(ctx, asked.attributes(k, next, old))
}

// mayDelete runs mutating, then validating admission for the deletion of an object. The options have the grace that the object
// gets (upstream: registry/rest, BeforeDelete).
func (r *Resource) mayDelete(ctx context.Context, current *Item, req *Request, opts kinds.DeleteOptions) error {
	if !r.asked(req) {
		return nil
	}
	if seconds, graceful := r.Kind.Grace(current.obj, opts.GracePeriodSeconds); graceful && current.meta().DeletionTimestamp == nil {
		opts.GracePeriodSeconds = &seconds
	} else if asked := opts.GracePeriodSeconds; asked != nil && *asked < 0 {
		opts.GracePeriodSeconds = new(int64(1))
	}
	a := req.attributes(r.Kind, nil, current.Copy())
	a.Operation, a.Options, a.DryRun = admission.Delete, opts, kinds.IsDryRun(opts.DryRun)
	a.OnFailure = func(func()) {} // nothing is taken for a deletion
	if req.asking.nameless {
		a.Name = ""
	}
	if err := r.st.admission.Admit(ctx, a); err != nil {
		return err
	}
	return r.st.admission.Validate(ctx, a)
}
