package registry

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Change makes the next state of an object. It is a Replacement, a Patch, an Apply, or a
// deletion.
type Change interface {
	// plan does the steps before the commit. current is nil if there is no object. plan is
	// called again if another write came first.
	plan(r *Resource, current *Item, req Request) (write, error)
}

// Replacement replaces the whole object. It returns the new object in the stored form,
// which the store then owns.
type Replacement func(current *Item) (Object, error)

func (c Replacement) plan(r *Resource, current *Item, req Request) (w write, err error) {
	if current == nil && (req.Status || !r.kind.info.CreateOnUpdate) {
		return w, r.NotFound(req.Name)
	}
	o, err := c(current)
	if err != nil {
		return w, err
	}
	r.dedupOwners(o.GetObjectMeta(), &req, "")
	if err := r.checkUID(current, &req); err != nil {
		return w, err
	}
	r.updateManagers(o, current, &req, r.st.now())
	return r.replace(current, o, &req, false)
}

// Replace returns the Change of a PUT. It takes ownership of the object, which must be in
// the stored form with defaults filled in.
func (r *Resource) Replace(o Object) Replacement {
	sent := *o.GetObjectMeta() // an attempt changes the metadata
	return func(*Item) (Object, error) {
		next := o
		if r.kind.of.PrepareForUpdate != nil && sent.ResourceVersion == "" {
			next = r.kind.copy(o) // the kind may change more than the metadata, and there may be another attempt
		}
		*next.GetObjectMeta() = sent
		return next, nil
	}
}

// checkUID compares the uid of an update with the current one.
func (r *Resource) checkUID(current *Item, req *Request) error {
	var have meta.UID
	if current != nil {
		have = current.UID()
	}
	if req.UID == "" || req.UID == have {
		return nil
	}
	return meta.NewConflict(r.kind.groupResource(), req.Name, r.invalidObject(req,
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

func (c Apply) plan(r *Resource, current *Item, req Request) (w write, err error) {
	if current == nil && req.Status {
		return w, r.NotFound(req.Name)
	}
	var live Object
	if current != nil {
		live = current.Wire(req.Version)
	}
	applied, err := r.kind.managersOf(&req).Apply(req.Version, live, c.Config,
		managedfields.ApplyOptions{Manager: req.FieldManager, Force: c.Force, Now: r.st.now()})
	if err != nil {
		return w, err
	}
	if err := c.checkDuplicates(&req); err != nil {
		return w, err
	}
	m := applied.GetObjectMeta()
	if current == nil && m.UID != "" {
		return w, meta.NewConflict(r.kind.groupResource(), req.Name,
			fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", m.UID))
	}
	if err := r.MatchNames(m, req); err != nil {
		return w, err
	}
	o := r.kind.fromWire(req.Version, applied)
	r.dedupOwners(o.GetObjectMeta(), &req, afterAdmission)
	return r.replace(current, o, &req, true)
}

// checkDuplicates refuses duplicate keys, or warns about them.
func (c Apply) checkDuplicates(req *Request) error {
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

// compileManagers describes the kind's versions to package managedfields.
func (d *Kind) compileManagers() {
	d.managers = &managedfields.FieldManager{Name: d.info.Kind}
	for i, v := range d.versions {
		f := d.forms[v.form]
		d.managers.Versions = append(d.managers.Versions, managedfields.Version{
			APIVersion: d.typeMeta(i).APIVersion, Type: f.typ,
		})
	}
	if len(d.forms) > 1 {
		d.managers.Convert = d.convert
	}
	if d.info.Status {
		d.statusManagers = &managedfields.FieldManager{}
		*d.statusManagers = *d.managers
		d.statusManagers.Subresource, d.statusManagers.Reset = memberStatus, []string{"metadata", "spec"}
		d.managers.Reset = []string{memberStatus}
	}
}

// managersOf returns the managers of the resource or of its status subresource.
func (d *Kind) managersOf(req *Request) *managedfields.FieldManager {
	if req.Status {
		return d.statusManagers
	}
	return d.managers
}

// convert returns an object of one version in the shape of another.
func (d *Kind) convert(o Object, from, to int) Object {
	f, t := d.versions[from].form, d.versions[to].form
	if f == t {
		return o
	}
	stored := d.forms[f].typ.Copy(o).(Object)
	if d.forms[f].from != nil {
		stored = d.forms[f].from(stored)
	}
	if d.forms[t].to != nil {
		return d.forms[t].to(stored)
	}
	return stored
}

// updateManagers makes the field manager of a write the owner of the fields that it
// changes. current is the state before, or nil.
func (r *Resource) updateManagers(o Object, current *Item, req *Request, now time.Time) {
	d, m := r.kind, o.GetObjectMeta()
	manager := cmp.Or(req.FieldManager, defaultManager)
	var live Object
	if current != nil {
		live = d.convert(current.obj, 0, req.Version)
	}
	// Version 0 has the stored form.
	wire := d.convert(o, 0, req.Version)
	d.managersOf(req).Update(req.Version, live, wire, manager, now)
	m.ManagedFields = wire.GetObjectMeta().ManagedFields
}

// markManagersReset turns an empty list of managers, which resets them, into a form that
// survives a copy.
func markManagersReset(m *meta.ObjectMeta) {
	if m.ManagedFields != nil && len(m.ManagedFields) == 0 {
		m.ManagedFields = []meta.ManagedFieldsEntry{{}}
	}
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
