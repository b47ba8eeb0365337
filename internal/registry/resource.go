package registry

import (
	"time"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// treeDegree is a compromise between the cost of a lookup and the cost of the
// copies that follow a Clone.
const treeDegree = 16

// Resource is the untyped collection of one kind: what package httpapi serves.
// All methods may be called from any goroutine.
type Resource struct {
	st   *Store
	kind *Kind
	id   int // the collection's number in the history

	// guarded by st.mu
	tree  *btree.BTreeG[entry]
	fresh *snapshot // of the tree as it is, or nil
	made  madeUp

	past pastSnapshots
	hot  hotTable
}

// Info describes a kind to whoever serves it.
type Info struct {
	Group, Kind, Plural, Singular string
	StoragePrefix                 string
	ShortNames                    []string
	Versions                      []VersionInfo // the preferred one first
	Columns                       []Column
	// SelectableFields lists all that a fieldSelector may name.
	SelectableFields []string
	CreateOnUpdate   bool
	// ClusterScoped tells that objects have no namespaces, Status that the status is
	// a subresource, Native that a real server has the kind built in.
	ClusterScoped, Status, Native bool
	// Unstructured tells that objects may have any form. They are not to be had in
	// protobuf, and their members are in the order of their names.
	Unstructured bool
}

// VersionInfo is one served version of a kind.
type VersionInfo struct {
	Name       string
	Deprecated string // the text of the warning, or ""
}

// Info returns the description of the resource's kind.
func (r *Resource) Info() Info {
	d := r.kind
	info := Info{
		Group: d.group, Kind: d.name, Plural: d.plural, Singular: d.singular, StoragePrefix: d.storagePrefix, ShortNames: d.shortNames,
		Columns: d.columns, SelectableFields: d.fields, CreateOnUpdate: d.createOnUpdate,
		Unstructured: d.unstructured(), ClusterScoped: d.clusterScoped, Status: d.status, Native: d.native,
	}
	for _, v := range d.versions {
		info.Versions = append(info.Versions, VersionInfo{v.name, v.deprecated})
	}
	return info
}

// ClusterScoped reports whether objects of the kind have no namespaces.
func (r *Resource) ClusterScoped() bool { return r.kind.clusterScoped }

// HasStatus reports whether the status is a subresource of the kind.
func (r *Resource) HasStatus() bool { return r.kind.status }

// Schema returns the compiled type of one version, by its index. It is for
// this module's own packages.
func (r *Resource) Schema(version int) *codec.Type {
	return r.kind.versions[version].schema
}

// Kind returns the kind of the resource.
func (r *Resource) Kind() *Kind { return r.kind }

// Store returns the store that the resource is in.
func (r *Resource) Store() *Store { return r.st }

// NotFound returns the error for an object that is not there.
func (r *Resource) NotFound(name string) error { return meta.NewNotFound(r.kind.groupResource(), name) }

// Own returns a copy of a caller's object in the form that is stored, with defaults
// filled in. It may share with current, the state that it replaces or nil, what
// did not change.
func (r *Resource) Own(o Object, current *Item) Object {
	fields := o.GetObjectMeta().ManagedFields
	if current != nil && r.kind.pure {
		o = r.kind.forms[0].typ.CopyOnto(o, current.obj).(Object)
	} else {
		o = r.kind.copy(o)
	}
	*o.GetTypeMeta() = meta.TypeMeta{}
	if fields != nil && len(fields) == 0 {
		o.GetObjectMeta().ManagedFields = fields
	}
	keepReset(o.GetObjectMeta())
	r.kind.defaults(o)
	return o
}

// Configuration returns an object in the stored form as the document that a server-
// side apply takes, in the preferred version.
func (r *Resource) Configuration(o Object) map[string]any {
	f := r.kind.forms[r.kind.versions[0].form]
	if f.to != nil {
		o = f.to(r.kind.copy(o))
	}
	config := f.typ.ToUnstructured(o)
	t := r.kind.typeMeta(0)
	config["kind"], config["apiVersion"] = t.Kind, t.APIVersion
	return config
}

// New returns an empty object in the shape of one version.
func (r *Resource) New(version int) Object { return r.kind.newWire(version) }

func (d *Kind) newWire(version int) Object { return d.forms[d.versions[version].form].newWire() }

// unstructured reports whether objects may have any form.
func (d *Kind) unstructured() bool { return d.forms[0].typ.Rest != nil }

// FromWire turns an object in the shape of one version into the stored form,
// with defaults filled in. It takes ownership of the object.
func (r *Resource) FromWire(version int, o Object) Object { return r.kind.fromWire(version, o) }

func (d *Kind) fromWire(version int, o Object) Object {
	*o.GetTypeMeta() = meta.TypeMeta{}
	keepReset(o.GetObjectMeta())
	if f := d.forms[d.versions[version].form]; f.from != nil {
		o = f.from(o)
	}
	d.defaults(o)
	return o
}

// Empty returns an Item that holds nothing but a resourceVersion and
// annotations: the object of a bookmark.
func (r *Resource) Empty(resourceVersion string, annotations map[string]string) *Item {
	o := r.kind.forms[0].newWire()
	m := o.GetObjectMeta()
	m.ResourceVersion, m.Annotations = resourceVersion, annotations
	return &Item{kind: r.kind, obj: o}
}

// lookup returns the current state of an object, or nil.
func (r *Resource) lookup(k key) *Item {
	if it := r.hot.get(k); it != nil {
		return it
	}
	r.st.mu.RLock()
	defer r.st.mu.RUnlock()
	it := r.lookupLocked(k)
	if it != nil {
		r.hot.put(it)
	}
	return it
}

func (r *Resource) lookupLocked(k key) *Item {
	e, _ := r.tree.Get(entry{key: k})
	return e.item
}

// isCurrent reports whether an item is still the state of its object in this
// store. It says nothing of what the store's forks made of it.
func (r *Resource) isCurrent(it *Item) bool {
	if r.hot.has(it) {
		return true
	}
	r.st.mu.RLock()
	defer r.st.mu.RUnlock()
	return r.lookupLocked(it.key()) == it
}

// isCurrentLocked is isCurrent for whoever has the lock.
func (r *Resource) isCurrentLocked(it *Item) bool {
	return r.hot.has(it) || r.lookupLocked(it.key()) == it
}

// changeTime returns when a change is made, if the history needs to know. It asks
// a clock of the user's, and so must be called without the lock.
func (st *Store) changeTime() time.Time {
	if !st.aging {
		return time.Time{}
	}
	return st.now()
}

// commitLocked makes a change: the one place where versions are taken. old is
// the state before or nil; obj is the state after, owned by the store from
// here on. For Deleted obj is the last state. at is what changeTime returned.
func (r *Resource) commitLocked(eventType watch.EventType, old *Item, obj Object, origin uint64, at time.Time) *Item {
	st := r.st
	version := st.version + 1
	setVersion(obj, version)
	it := newItem(r.kind, obj, version)
	e := it.entry()
	if old != nil {
		it.slot = old.slot
	} else {
		it.slot = r.hot.index(e.key)
	}
	if eventType == watch.Deleted {
		r.tree.Delete(e)
		r.buryLocked(obj.GetObjectMeta())
		r.hot.drop(old)
	} else {
		r.tree.ReplaceOrInsert(e)
		r.hot.put(it)
	}
	r.fresh = nil
	st.version = version
	c := &hub.Change[change]{
		Version: version, Collection: r.id,
		Namespace: e.namespace, Name: e.name,
		At: at, Payload: change{eventType: eventType, old: old, new: it, origin: origin},
	}
	st.record.addLocked(c)
	st.hub.Publish(c)
	return it
}
