package registry

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/field"
)

// This file asks the Admission of a store about its writes (upstream: apiserver, endpoints/handlers, and registry/rest,
// AdmissionToValidateObjectFunc and AdmissionToValidateObjectDeleteFunc). What it gets shares no memory with the store.

// guarded is the gate of a store with an Admission, or with Claims. Either may be nil.
type guarded struct {
	admission admission.Interface
	claims    admission.Claims
}

func (g *guarded) begin(ctx context.Context, r *Resource, req *Request) func(bool) {
	if req.Guard == nil {
		req.Guard = new(Guard)
	}
	a := req.Guard
	a.resource, a.version, a.effects = r.Kind, req.Version, nil
	a.silent = a.silent || admission.IsBelow(ctx)
	return a.end
}

// end ends the effects of an attempt, the last one first. It is deferred, since a validation may panic.
func (a *Guard) end(stored bool) {
	for _, end := range slices.Backward(a.effects) {
		end(stored)
	}
	a.effects = nil
}

// onFailure is Attributes.OnFailure.
func (a *Guard) onFailure(undo func()) {
	a.effects = append(a.effects, func(stored bool) {
		if !stored {
			undo()
		}
	})
}

func (g *guarded) asks(req *Request) bool { return g.admission != nil && !req.Guard.silent }

// attributes describes the write of an object of the kind k.
func (req *Request) attributes(k *kinds.Kind, o, old kinds.Object) *admission.Attributes {
	a := &admission.Attributes{
		Operation: admission.Update, Resource: req.Guard.resource, ResourceVersion: req.Guard.version,
		Kind: k, Version: req.Version, Namespace: req.Namespace, Name: req.Name,
		Object: o, Old: old, DryRun: req.DryRun, Warn: req.Warn,
	}
	if req.Sub != nil {
		a.Subresource = req.Sub.Name
	}
	if a.Warn == nil {
		a.Warn = func(string) {}
	}
	a.OnFailure = req.Guard.onFailure
	if info := a.Resource.Info(); info.Group == "" && info.Plural == "namespaces" {
		a.Namespace = a.Name // as upstream: a namespace is in itself
	}
	opts := req.Guard.Options
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

func (g *guarded) admit(ctx context.Context, r *Resource, o kinds.Object, current *Item, req *Request, owned bool) (kinds.Object, error) {
	if !g.asks(req) {
		return o, nil
	}
	if !owned {
		o = r.Kind.Copy(o)
	}
	managers := o.GetObjectMeta().ManagedFields
	a := req.attributes(r.Kind, o, current.Copy())
	if err := g.admission.Admit(ctx, a); err != nil {
		return nil, err
	}
	if err := r.Kind.Managers(req.Sub, req.Version).Check(a.Object.GetObjectMeta().ManagedFields); err != nil {
		a.Object.GetObjectMeta().ManagedFields = managers
		req.warn(invalidManagers + err.Error())
	}
	req.Guard.malformed, req.Guard.posted = a.Malformed, owned
	return a.Object, nil
}

// malformedIn returns what is wrong with the metadata that the Admission has left, after the server has set its own members in it. A create
// that is no POST removes more of them, since a POST has done so before the Admission (upstream: registry/rest, WipeObjectMetaSystemFields).
func (a *Guard) malformedIn(o kinds.Object, creates bool) *field.Error {
	if a == nil || a.malformed == nil {
		return nil
	}
	m, metadata := o.GetObjectMeta(), maps.Clone(a.malformed.Metadata)
	metadata["creationTimestamp"], metadata["generation"] = m.CreationTimestamp.UTC().Format(time.RFC3339), m.Generation
	metadata["uid"] = string(m.UID)
	if m.Namespace != "" {
		metadata["namespace"] = m.Namespace
	}
	if creates && !a.posted {
		for _, name := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
			delete(metadata, name)
		}
	}
	if err := a.malformed.Check(metadata); err != nil {
		return field.Invalid("metadata", metadata, err.Error())
	}
	return nil
}

// claim asks nothing of a subresource.
func (g *guarded) claim(ctx context.Context, r *Resource, o kinds.Object, current *Item, req *Request) error {
	if g.claims == nil || req.Sub != nil {
		return nil
	}
	end, err := g.claims.Claim(ctx, r.Kind, o, current.Stored(), req.DryRun)
	if end != nil {
		req.Guard.effects = append(req.Guard.effects, end)
	}
	return err
}

func (g *guarded) release(ctx context.Context, r *Resource, gone *Item) {
	if g.claims != nil {
		g.claims.Release(ctx, r.Kind, gone.obj)
	}
}

func (g *guarded) mayWrite(ctx context.Context, r *Resource, o kinds.Object, current *Item, req *Request) error {
	if !g.asks(req) {
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
	return g.admission.Validate(ctx, asked.attributes(k, next, old))
}

// mayDelete runs mutating, then validating admission for the deletion of an object. The options have the grace that the object
// gets (upstream: registry/rest, BeforeDelete).
func (g *guarded) mayDelete(ctx context.Context, r *Resource, current *Item, req *Request, opts kinds.DeleteOptions) error {
	if !g.asks(req) {
		return nil
	}
	if seconds, graceful, err := r.Kind.Grace(current.obj, opts.GracePeriodSeconds); err != nil {
		return err
	} else if graceful && current.meta().DeletionTimestamp == nil {
		opts.GracePeriodSeconds = &seconds
	} else if asked := opts.GracePeriodSeconds; asked != nil && *asked < 0 {
		opts.GracePeriodSeconds = new(int64(1))
	}
	a := req.attributes(r.Kind, nil, current.Copy())
	a.Operation, a.Options, a.DryRun = admission.Delete, opts, kinds.IsDryRun(opts.DryRun)
	if req.Guard.nameless {
		a.Name = ""
	}
	return g.askBoth(ctx, a)
}

// Connect asks about a request that the server passes on, with its options (upstream: endpoints/handlers, ConnectResource).
func (r *Resource) Connect(ctx context.Context, req *Request, options any) error {
	r.st.gate.begin(ctx, r, req)
	if !r.st.gate.asks(req) {
		return nil
	}
	a := req.attributes(r.Kind, nil, nil)
	a.Operation, a.Options = admission.Connect, options
	return r.st.guard().askBoth(ctx, a)
}

// askBoth asks in both phases about a request that makes no object.
func (g *guarded) askBoth(ctx context.Context, a *admission.Attributes) error {
	a.OnFailure = func(func()) {} // nothing is taken for it
	if err := g.admission.Admit(ctx, a); err != nil {
		return err
	}
	return g.admission.Validate(ctx, a)
}
