package registry

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Change makes the next state of an object. It is a Replacement, a Modification, a Sent, a Patch, an Apply, or a deletion.
type Change interface {
	// plan does the steps before the commit. current is nil if there is no object. plan is
	// called again if another write came first.
	plan(ctx context.Context, r *Resource, current *Item, req *Request) (write, error)
}

// bodyChange is a Change by the body of a request, which may be the body of a subresource.
type bodyChange interface {
	Change
	// next returns the state after current, with its field managers. It is not admitted yet.
	next(ctx context.Context, r *Resource, current *Item, req *Request) (kinds.Object, error)
}

// planBody is the plan of a bodyChange. creates reports whether it creates a missing object, through a subresource too.
func (r *Resource) planBody(ctx context.Context, c bodyChange, current *Item, req *Request, creates bool) (w write, err error) {
	if current == nil && !creates {
		return w, r.NotFound(req.Name)
	}
	_, applied := c.(*Apply)
	// Each attempt of an apply makes a new object from the configuration, with which only a tree shares memory.
	o, err := r.after(ctx, c, current, req, applied && current == nil && !r.Info().Trees)
	if err != nil {
		return w, err
	}
	return r.replace(ctx, current, o, req, applied)
}

// after returns the state that a change makes of current, with its field managers and admitted. See gate.admit for owned.
func (r *Resource) after(ctx context.Context, c bodyChange, current *Item, req *Request, owned bool) (kinds.Object, error) {
	o, err := c.next(ctx, r, current, req)
	if err != nil {
		return nil, err
	}
	if current == nil {
		if err := r.mayCreate(req.Name); err != nil {
			return nil, err
		}
	}
	if o, err = r.st.gate.admit(ctx, r, o, current, req, owned); err != nil {
		return nil, err
	}
	req.dedupOwners(o.GetObjectMeta(), afterAdmission)
	return o, nil
}

// Replacement replaces the whole object. It returns the new object in the stored form, which the store then owns.
type Replacement func(current *Item) (kinds.Object, error)

func (c Replacement) plan(ctx context.Context, r *Resource, current *Item, req *Request) (write, error) {
	return r.planBody(ctx, c, current, req, r.Kind.Strategy().Update.CreateMissing)
}

func (c Replacement) next(ctx context.Context, r *Resource, current *Item, req *Request) (kinds.Object, error) {
	o, err := c(current)
	if err != nil {
		return nil, err
	}
	return o, r.replacement(ctx, o, current, req)
}

// Modification is a Replacement that starts again as long as other writes come first.
type Modification struct{ Replacement }

// persists reports whether a change starts again as long as other writes come first.
func persists(c Change) bool {
	switch c := c.(type) {
	case through:
		return persists(c.change)
	case Modification, deletion, removal:
		return true
	}
	return false
}

// replacement prepares an object that replaces current.
func (r *Resource) replacement(ctx context.Context, o kinds.Object, current *Item, req *Request) error {
	req.dedupOwners(o.GetObjectMeta(), "")
	if err := r.checkUID(current, req); err != nil {
		return err
	}
	return r.updateManagers(ctx, o, current, req, r.st.now())
}

// Sent is the Replacement by an object of a request. It keeps the metadata, which an attempt changes.
type Sent struct {
	kind  *kinds.Kind
	obj   kinds.Object
	meta  meta.ObjectMeta
	found *Item
}

// SentBy returns the Change of a PUT of an object of a kind, which may be the kind of the bodies of a subresource. It takes ownership of
// the object, which must be in the stored form with defaults filled in. found is the state that the first attempt begins with, if the
// caller has read it, or nil. The caller has the memory of the Change.
func SentBy(k *kinds.Kind, o kinds.Object, found *Item) Sent {
	return Sent{k, o, *o.GetObjectMeta(), found}
}

func (s *Sent) plan(ctx context.Context, r *Resource, current *Item, req *Request) (write, error) {
	return r.planBody(ctx, s, current, req, r.Kind.Strategy().Update.CreateMissing)
}

func (s *Sent) next(ctx context.Context, r *Resource, current *Item, req *Request) (kinds.Object, error) {
	next := s.obj
	if s.kind.PreparesWrites() && s.meta.ResourceVersion == "" {
		next = s.kind.Copy(s.obj) // the kind may change more than the metadata, and there may be another attempt
	}
	*next.GetObjectMeta() = s.meta
	return next, r.replacement(ctx, next, current, req)
}

// checkUID compares the uid of an update with the current one.
func (r *Resource) checkUID(current *Item, req *Request) error {
	var have meta.UID
	if current != nil {
		have = current.meta().UID
	}
	if req.UID == "" || req.UID == have {
		return nil
	}
	return meta.NewConflict(r.Kind.GroupResource(), req.Name, r.invalidObject(req,
		fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", req.UID, have)))
}

// afterAdmission is part of the warning about owner references in patches.
const afterAdmission = " after mutating admission happens"

// Apply is a server-side apply. It creates the object if there is none.
type Apply struct {
	// Config is the applied configuration, with int64 and float64 as numbers.
	Config map[string]any
	// Duplicates are the errors about duplicate keys in the configuration.
	Duplicates []error
	// Validation is the level of fieldValidation.
	Validation patch.Validation
	// Force takes fields from other managers.
	Force bool
}

func (c *Apply) plan(ctx context.Context, r *Resource, current *Item, req *Request) (write, error) {
	// Only the storage of the object itself lets an apply create what an update does not (upstream: the Update of each StatusREST).
	return r.planBody(ctx, c, current, req, req.Sub == nil || r.Kind.Strategy().Update.CreateMissing)
}

func (c *Apply) next(ctx context.Context, r *Resource, current *Item, req *Request) (_ kinds.Object, err error) {
	var live kinds.Object
	if current != nil {
		if live, err = current.WireIn(ctx, req.Version); err != nil {
			return nil, err
		}
	}
	applied, changed, err := r.Kind.Managers(req.Sub, req.Version).Apply(req.Version, live, c.Config,
		managedfields.ApplyOptions{Manager: req.FieldManager, Force: c.Force, Now: r.st.now()})
	if err != nil {
		return nil, err
	}
	if err := c.checkDuplicates(req); err != nil {
		return nil, err
	}
	m := applied.GetObjectMeta()
	if current == nil && m.UID != "" {
		return nil, meta.NewConflict(r.Kind.GroupResource(), req.Name,
			fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", m.UID))
	}
	if err := r.MatchNames(m, req.Namespace, req.Name); err != nil {
		return nil, err
	}
	if changed || current == nil {
		return r.Kind.Received(ctx, applied, req.Version)
	}
	// Defaults of the version that the stored one lacks are not filled in (upstream: managedfields, structuredmerge.go).
	same, err := r.Kind.AsReceived(ctx, req.Version, current.obj)
	if err != nil {
		return nil, err
	}
	same = r.Kind.Copy(same)
	*same.GetObjectMeta() = *m
	return same, nil
}

// checkDuplicates refuses duplicate keys, or warns about them.
func (c *Apply) checkDuplicates(req *Request) error {
	if len(c.Duplicates) > 0 && c.Validation == patch.Strict {
		return meta.NewBadRequest("error strict decoding patch: error converting YAML to JSON: %s", yaml.StrictError(c.Duplicates))
	}
	for _, d := range c.Duplicates {
		if c.Validation == patch.Warn {
			req.warn(d.Error())
		}
	}
	return nil
}

// Field managers: the rules are in internal/managedfields. Fields are tracked in the
// shape of the request's API version.

// defaultManager is the field manager of a write that names none.
const defaultManager = "unknown"

// updateManagers makes the field manager of a write the owner of the fields that it
// changes. current is the state before, or nil. The error is one of the conversion to that shape.
func (r *Resource) updateManagers(ctx context.Context, o kinds.Object, current *Item, req *Request, now time.Time) (err error) {
	d, m := r.Kind, o.GetObjectMeta()
	if d.IsMistyped(o, req.Version) {
		m.ManagedFields = nil
		if current != nil { // upstream: managedfields, UpdateNoErrors, which cannot convert it
			m.ManagedFields = current.obj.GetObjectMeta().ManagedFields
		}
		return nil
	}
	manager := cmp.Or(req.FieldManager, defaultManager)
	var live kinds.Object
	if current != nil {
		if live, err = d.Convert(ctx, current.obj, 0, req.Version, kind.Remembered); err != nil {
			return err
		}
	}
	// Version 0 has the stored form.
	wire, err := d.Convert(ctx, o, 0, req.Version, kind.Remembered)
	if err != nil {
		return err
	}
	d.Managers(req.Sub, req.Version).Update(req.Version, live, wire, manager, now)
	m.ManagedFields = wire.GetObjectMeta().ManagedFields
	return nil
}

// ignoreManagerTimes uses the old managers if only their times differ, so that the write
// can turn out to change nothing. It returns the new managers.
func ignoreManagerTimes(m, old *meta.ObjectMeta) (now []meta.ManagedFieldsEntry) {
	now = m.ManagedFields
	if managedfields.SameOwners(now, old.ManagedFields) {
		m.ManagedFields = old.ManagedFields
	}
	return now
}
