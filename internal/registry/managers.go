package registry

import (
	"cmp"
	"time"

	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file is where writes are ascribed to their managers; the rules are in
// internal/managedfields. Fields are tracked in the shape of the API version
// that the request names.

// unnamedManager is who a write is ascribed to that names nobody.
const unnamedManager = "unknown"

// compileManagers describes the kind's versions to package managedfields.
func (d *Kind) compileManagers() {
	d.managers = &managedfields.Kind{Name: d.name}
	for i, v := range d.versions {
		f := d.forms[v.form]
		d.managers.Versions = append(d.managers.Versions, managedfields.Version{
			APIVersion: d.typeMeta(i).APIVersion, Type: f.typ,
			New: func() managedfields.Object { return f.newWire() },
		})
	}
	if len(d.forms) > 1 {
		d.managers.Convert = d.convert
	}
	if d.status {
		d.statusManagers = &managedfields.Kind{}
		*d.statusManagers = *d.managers
		d.statusManagers.Subresource, d.statusManagers.Reset = memberStatus, []string{"metadata", "spec"}
		d.managers.Reset = []string{memberStatus}
	}
}

// managersOf returns the rules for those who write as a request does.
func (d *Kind) managersOf(req *Request) *managedfields.Kind {
	if req.Status {
		return d.statusManagers
	}
	return d.managers
}

// convert returns an object of one version in the shape of another.
func (d *Kind) convert(o managedfields.Object, from, to int) managedfields.Object {
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

// track ascribes what a write changes in an object to its manager. current is
// what it replaces, or nil.
func (r *Resource) track(o Object, current *Item, req *Request) {
	r.trackAt(o, current, req, r.st.now())
}

func (r *Resource) trackAt(o Object, current *Item, req *Request, now time.Time) {
	d, m := r.kind, o.GetObjectMeta()
	manager := cmp.Or(req.FieldManager, unnamedManager)
	var live managedfields.Object
	if current != nil {
		live = d.convert(current.obj, 0, req.Version)
	}
	// The conversions need the stored form to be that of the first version,
	// which it is.
	wire := d.convert(o, 0, req.Version)
	d.managersOf(req).Update(req.Version, live, wire, manager, now)
	m.ManagedFields = wire.GetObjectMeta().ManagedFields
}

// keepReset makes an empty list of managers, which asks to forget them all, one
// that survives being copied.
func keepReset(m *meta.ObjectMeta) {
	if m.ManagedFields != nil && len(m.ManagedFields) == 0 {
		m.ManagedFields = []meta.ManagedFieldsEntry{{}}
	}
}

// keepManagerTimes takes the record of the object before where nothing but
// times has changed in it, so that the write can turn out to change nothing.
func keepManagerTimes(m, old *meta.ObjectMeta) (restore func()) {
	now := m.ManagedFields
	if managedfields.SameOwners(now, old.ManagedFields) {
		m.ManagedFields = old.ManagedFields
	}
	return func() { m.ManagedFields = now }
}
