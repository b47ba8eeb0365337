package registry

import (
	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// treeDegree balances the cost of a lookup and of the copies after a Clone.
const treeDegree = 16

// Resource is the untyped collection of one kind.
// All methods may be called from any goroutine.
type Resource struct {
	st   *Store
	kind *Kind
	id   int // in the history

	// guarded by st.mu
	tree   *btree.BTreeG[entry]
	fresh  *snapshot // of the current tree, or nil
	seeded seeded

	account   *account
	snapshots snapshotCache
}

// Info describes a kind.
type Info struct {
	Group, Kind, Plural, Singular string
	StoragePrefix                 string
	ShortNames                    []string
	Versions                      []VersionInfo // the preferred one first
	Columns                       []Column
	// SelectableFields are all fields that a fieldSelector may name.
	SelectableFields []string
	CreateOnUpdate   bool
	// ClusterScoped kinds have no namespaces, Status is a subresource of the kind, and
	// Native kinds are built into a real server.
	ClusterScoped, Status, Native bool
	// Unstructured objects may have any form, and their members are ordered by name.
	Unstructured bool
	// JSONOnly reports that objects have no protobuf form, as custom resources.
	JSONOnly bool
}

// VersionInfo is one served version of a kind.
type VersionInfo struct {
	Name       string
	Deprecated string // the text of the warning, or ""
}

// Info returns the description of the resource's kind.
func (r *Resource) Info() *Info { return &r.kind.info }

// Info returns the description of the kind, which must not be changed.
func (d *Kind) Info() *Info { return &d.info }

// ClusterScoped reports whether objects of the kind have no namespaces.
func (r *Resource) ClusterScoped() bool { return r.kind.info.ClusterScoped }

// HasStatus reports whether the status is a subresource of the kind.
func (r *Resource) HasStatus() bool { return r.kind.info.Status }

// Schema returns the compiled type of one version, by its index.
func (r *Resource) Schema(version int) *codec.Type {
	return r.kind.versions[version].schema
}

// Kind returns the kind of the resource.
func (r *Resource) Kind() *Kind { return r.kind }

// Store returns the store that the resource is in.
func (r *Resource) Store() *Store { return r.st }

// Len returns the number of objects.
func (r *Resource) Len() int {
	r.st.mu.RLock()
	defer r.st.mu.RUnlock()
	return r.tree.Len()
}

// NotFound returns the error for a missing object.
func (r *Resource) NotFound(name string) error { return meta.NewNotFound(r.kind.groupResource(), name) }

// Own returns a copy of a caller's object in the stored form, with defaults filled in.
// current is the state that it replaces, or nil; the copy may share unchanged parts with it.
func (r *Resource) Own(o Object, current *Item) Object {
	fields := o.GetObjectMeta().ManagedFields
	if current != nil && r.kind.pure {
		o = r.kind.forms[0].typ.CopyOnto(o, current.meta()).(Object)
	} else {
		o = r.kind.copy(o)
	}
	*o.GetTypeMeta() = meta.TypeMeta{}
	if fields != nil && len(fields) == 0 {
		o.GetObjectMeta().ManagedFields = fields
	}
	markManagersReset(o.GetObjectMeta())
	r.kind.of.Default(o)
	return o
}

// Configuration returns an object in the stored form as the document of a server-side
// apply, in the preferred version.
func (r *Resource) Configuration(o Object) map[string]any {
	config := r.kind.forms[0].typ.ToUnstructured(o)
	t := r.kind.typeMeta(0)
	config["kind"], config["apiVersion"] = t.Kind, t.APIVersion
	return config
}

// New returns an empty object in the shape of one version.
func (r *Resource) New(version int) Object { return r.kind.newWire(version) }

func (d *Kind) newWire(version int) Object { return d.forms[d.versions[version].form].newWire() }

// FromWire turns an object in the shape of one version into the stored form,
// with defaults filled in. It takes ownership of the object.
func (r *Resource) FromWire(version int, o Object) Object { return r.kind.fromWire(version, o) }

func (d *Kind) fromWire(version int, o Object) Object {
	*o.GetTypeMeta() = meta.TypeMeta{}
	markManagersReset(o.GetObjectMeta())
	if f := d.forms[d.versions[version].form]; f.from != nil {
		o = f.from(o)
	}
	d.of.Default(o)
	return o
}

// Empty returns the object of a bookmark, which has only a resourceVersion and
// annotations.
func (r *Resource) Empty(resourceVersion string, annotations map[string]string) *Item {
	o := r.kind.forms[0].newWire()
	m := o.GetObjectMeta()
	m.ResourceVersion, m.Annotations = resourceVersion, annotations
	return &Item{kind: r.kind, obj: o}
}

// Peek returns the present state of an object without waiting, or nil if there is none.
func (r *Resource) Peek(namespace, name string) *Item { return r.lookup(key{namespace, name}) }

// lookup returns the current state of an object, or nil.
func (r *Resource) lookup(k key) *Item {
	r.st.mu.RLock()
	defer r.st.mu.RUnlock()
	return r.lookupLocked(k)
}

func (r *Resource) lookupLocked(k key) *Item {
	e, _ := r.tree.Get(entry{key: k})
	return e.item
}
