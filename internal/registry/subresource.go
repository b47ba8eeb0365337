package registry

import (
	"context"
	"errors"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file has the subresources whose bodies have a kind of their own, such as Scale and Eviction. A subresource
// with bodies of the parent's kind, such as the status, is a restricted write of the parent: see prepareUpdate.

// through makes a change of a body a change of the parent (upstream: ScaleREST and scaleUpdatedObjectInfo).
type through struct{ change bodyChange }

func (c through) plan(ctx context.Context, r *Resource, current *Item, req *Request) (w write, err error) {
	if current == nil {
		return w, r.NotFound(req.Name)
	}
	if err := r.checkUID(current, req); err != nil {
		return w, err
	}
	sub := req.Sub
	parent, err := r.Kind.AsReceived(ctx, req.Version, current.obj)
	if err != nil {
		return w, err
	}
	live, err := sub.BodyOf(parent)
	if err != nil {
		return w, err
	}
	bodies, inBody := r.bodies(*req)
	body, err := bodies.after(ctx, c.change, newItem(sub.Body, live, current.version), inBody, false)
	if err != nil {
		return w, err
	}
	if errs := sub.Body.ValidateContent(0, body); len(errs) > 0 {
		return w, errs.Status(sub.Body.GroupKind(), req.Name)
	}
	o := r.Kind.Copy(parent)
	if err := sub.WriteBody(o, body, r.Kind.TypeMeta(req.Version).APIVersion); err != nil {
		return w, err
	}
	return r.replace(ctx, current, o, req, false)
}

// Body returns the body of a subresource for a state of the parent. get is set for the answer of a get, which Shows may refuse.
func (r *Resource) Body(sub *kinds.Subresource, parent *Item, get bool) (*Item, error) {
	if get && sub.Shows != nil {
		if err := sub.Shows(parent.obj); err != nil {
			return nil, err
		}
	}
	body, err := sub.Read(parent.obj)
	if err != nil {
		return nil, err
	}
	return newItem(sub.Body, body, parent.version), nil
}

// bodies returns the Resource of the bodies of a subresource, which are not stored, and the request for a body.
func (r *Resource) bodies(req Request) (*Resource, *Request) {
	req.Version, req.UID = 0, ""
	return &Resource{req.Sub.Body, &collection{st: r.st}}, &req
}

// CreateSub answers a create of a body of a subresource. The answer is nil for a Status.
func (r *Resource) CreateSub(ctx context.Context, req *Request, body kinds.Object) (answer *Item, err error) {
	r.st.gate.begin(ctx, r, req) // nothing is stored, so nobody ends what it has taken
	bodies, inBody := r.bodies(*req)
	if err := bodies.updateManagers(ctx, body, nil, inBody, r.st.now()); err != nil {
		return nil, err
	}
	if body, err = r.st.gate.admit(ctx, bodies, body, nil, inBody, false); err != nil {
		return nil, err
	}
	if r.st.gate.asks(req) {
		if err := MatchNamespace(body.GetObjectMeta(), req.Namespace); err != nil {
			return nil, err
		}
	}
	if errs := req.Sub.Body.ValidateContent(0, body); len(errs) > 0 {
		return nil, errs.Status(req.Sub.Body.GroupKind(), req.Name)
	}
	if err := r.st.gate.mayWrite(ctx, bodies, body, nil, inBody); err != nil {
		return nil, err
	}
	switch {
	case req.Sub.Answer != nil:
		parent, err := r.Get(ctx, req.Namespace, req.Name, "")
		if err != nil {
			return nil, err
		}
		o, err := req.Sub.Answer(caller.WithWarner(ctx, req.warn), parent.obj, body)
		if err != nil {
			return nil, err
		}
		return newItem(req.Sub.Body, o, 0), nil
	case req.Sub.Removes:
		return nil, r.evict(ctx, req, body)
	}
	_, err = r.attempt(ctx, req, binding{body})
	return nil, err
}

// createThrough writes the object that a body names, as a create of a subresource of the object does (upstream: LegacyBindingREST).
func (r *Resource) createThrough(ctx context.Context, to *kind.Through, body kinds.Object, req *Request) error {
	if req.Name == "" {
		return meta.NewBadRequest("Name parameter required.")
	}
	resource := meta.GroupResource{Group: r.Info().Group, Resource: to.Resource}
	parents := r.st.named(resource)
	if parents == nil {
		return meta.NewNotFound(resource, req.Name)
	}
	sub := parents.Kind.Subresource(to.Subresource)
	_, err := parents.attempt(ctx, &Request{Namespace: req.Namespace, Name: req.Name, Sub: sub, DryRun: req.DryRun}, binding{body})
	return err
}

// binding is the Change of a create that writes the parent, without the rules of an update (upstream: BindingREST).
type binding struct{ body kinds.Object }

func (c binding) plan(ctx context.Context, r *Resource, current *Item, req *Request) (w write, err error) {
	if current == nil {
		return w, r.NotFound(req.Name)
	}
	o := r.Kind.Copy(current.obj)
	if err := req.Sub.Write(o, c.body); err != nil {
		return w, err
	}
	w = write{key: current.key(), outcome: put, dry: req.DryRun, old: current, obj: o, answer: current}
	if r.Kind.Type().Equal(o, current.obj) {
		w.outcome = unchanged
	}
	if w.dry || w.outcome == unchanged {
		return w, nil
	}
	w.size, err = r.checkSize(o, false)
	return w, err
}

// evict deletes the parent with the options of a body (upstream: registry/core/pod/storage, EvictionREST).
func (r *Resource) evict(ctx context.Context, req *Request, body kinds.Object) error {
	if body.GetObjectMeta().Name != req.Name {
		return meta.NewBadRequest("name in URL does not match name in %s object", req.Sub.Body.Info().Kind)
	}
	opts, err := req.Sub.DeleteOptionsOf(body)
	if err != nil {
		return meta.NewBadRequest("%s", err)
	}
	if kinds.IgnoresReadError(opts) {
		return field.Errors{field.Invalid("deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential", true,
			"can not be set for pod eviction, try after removing the option")}.Status(req.Sub.Body.GroupKind(), req.Name)
	}
	req.DryRun = req.DryRun || kinds.IsDryRun(opts.DryRun)
	if req.DryRun {
		opts.DryRun = []string{kinds.DryRunAll}
	}
	if req.Sub.MayRemove == nil {
		return r.removeThrough(ctx, req, body, opts)
	}
	for retry := 0; ; retry++ {
		parent, err := r.Get(ctx, req.Namespace, req.Name, "")
		if err != nil {
			return err
		}
		exact, err := req.Sub.MayRemove(ctx, parent.obj, req.DryRun)
		if err != nil {
			return err
		}
		attempt := opts
		if exact = exact && (opts.Preconditions == nil || opts.Preconditions.ResourceVersion == nil); exact {
			p := kinds.Preconditions{ResourceVersion: new(parent.ResourceVersion())}
			if opts.Preconditions != nil {
				p.UID = opts.Preconditions.UID
			}
			attempt.Preconditions = &p
		}
		err = r.removeThrough(ctx, req, body, attempt)
		if !exact || retry == maxEvictions || !errors.Is(err, meta.ReasonConflict) {
			return err
		}
	}
}

// maxEvictions is how often an eviction starts again because the parent has changed (upstream: EvictionsRetry).
const maxEvictions = 20

// removeThrough changes the parent as the body asks, and deletes it.
func (r *Resource) removeThrough(ctx context.Context, req *Request, body kinds.Object, opts kinds.DeleteOptions) error {
	if req.Sub.Write != nil && !req.DryRun {
		w, err := r.attempt(ctx, req, disruption{binding{body}, opts.Preconditions})
		if err != nil {
			return err
		}
		if p := opts.Preconditions; p != nil && p.ResourceVersion != nil {
			opts.Preconditions = &kinds.Preconditions{UID: p.UID, ResourceVersion: new(w.answer.ResourceVersion())}
		}
	}
	_, err := r.Delete(ctx, &Request{Namespace: req.Namespace, Name: req.Name, Guard: &Guard{silent: true}}, &opts)
	return err
}

// disruption is the Change of an eviction before the deletion.
type disruption struct {
	binding
	preconditions *kinds.Preconditions
}

func (c disruption) plan(ctx context.Context, r *Resource, current *Item, req *Request) (w write, err error) {
	if current != nil {
		if err := r.checkPreconditions(current, c.preconditions); err != nil {
			return w, err
		}
	}
	return c.binding.plan(ctx, r, current, req)
}
