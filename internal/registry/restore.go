package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// MaxRestoredVersion is the greatest resourceVersion of a restored object. It leaves room for later ones.
const MaxRestoredVersion = 1<<62 - 1

// Restored is an object that is ready for Restore.
type Restored struct {
	r       *Resource
	obj     kinds.Object
	version uint64 // 0 for any
	size    int
}

// PrepareRestore validates an object as a create does, and takes ownership of it. The object must be in the stored
// form with defaults filled in. It keeps the values that it has for uid, resourceVersion, creationTimestamp,
// generation, managedFields, and the deletion of an object with finalizers. Missing ones are set as by a create,
// except that no name is generated, and that Restore sets the resourceVersion. selfLink is dropped.
//
// Only Version and FieldManager of req are used.
func (r *Resource) PrepareRestore(o kinds.Object, req Request) (*Restored, error) {
	m := o.GetObjectMeta()
	version, err := ParseRestoredVersion(m.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if errs := r.checkRestored(o); len(errs) > 0 {
		return nil, errs.Status(r.Kind.GroupKind(), m.Name)
	}
	req.dedupOwners(m, "")
	if err := r.restoreSystemFields(o, req); err != nil {
		return nil, err
	}
	r.Kind.ConformStored(o)
	received, err := r.Kind.AsReceived(context.Background(), req.Version, o)
	if err != nil {
		return nil, err
	}
	if errs := r.Kind.ValidateCreate(req.Version, received); len(errs) > 0 {
		return nil, errs.Status(r.Kind.GroupKind(), m.Name)
	}
	r.Kind.Type().Settle(o)
	size := r.Kind.Type().Size(o)
	if size > maxObject {
		return nil, fmt.Errorf("the object is larger than %d bytes", maxObject)
	}
	if newItem(r.Kind, o, 0).roundTrip(req.Version) == nil {
		// In UTC a time may be outside of the years that can be encoded.
		return nil, fmt.Errorf("the object cannot be decoded again after it is encoded; a time may be outside the years 0 to 9999")
	}
	r.st.interned.Metadata(m, nil)
	return &Restored{r, o, version, size}, nil
}

// Object returns the object as it will be stored, and Size its size in bytes.
func (o *Restored) Object() kinds.Object { return o.obj }

// Size returns the size of the object in bytes.
func (o *Restored) Size() int { return o.size }

// ParseRestoredVersion returns the resourceVersion of a restored object or list, 0 for "" and "0".
func ParseRestoredVersion(text string) (uint64, error) {
	version, err := parseReadVersion(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("metadata.%w", err)
	case version > MaxRestoredVersion:
		return 0, fmt.Errorf("metadata.resourceVersion: Invalid value: %q: must be at most %d", text, uint64(MaxRestoredVersion))
	}
	return version, nil
}

// checkRestored refuses values that a create accepts but that no stored object has.
func (r *Resource) checkRestored(o kinds.Object) (errs field.Errors) {
	m := o.GetObjectMeta()
	if m.Name == "" {
		errs = append(errs, field.Required("metadata.name", "must be given; generateName alone is for requests"))
	}
	if m.DeletionTimestamp != nil && !r.Kind.Holds(o) {
		errs = append(errs, field.Invalid("metadata.deletionTimestamp", m.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z07:00"),
			"must not be given without finalizers: the object would be gone"))
	}
	return errs
}

// restoreSystemFields sets the fields that the server owns and that are missing.
func (r *Resource) restoreSystemFields(o kinds.Object, req Request) error {
	m := o.GetObjectMeta()
	m.SelfLink = ""
	if m.UID == "" {
		m.UID = r.newUID()
	}
	if m.Generation == 0 && r.Kind.HasGenerations() {
		m.Generation = 1
	}
	if m.CreationTimestamp.IsZero() {
		m.CreationTimestamp = meta.NewTime(r.st.now())
	}
	switch {
	case m.DeletionTimestamp == nil:
		m.DeletionGracePeriodSeconds = nil
	case m.DeletionGracePeriodSeconds == nil:
		m.DeletionGracePeriodSeconds = new(int64(0))
	}
	managers, known, err := managedfields.Given(m.ManagedFields)
	if err != nil {
		return fmt.Errorf("metadata.managedFields: %w", err)
	}
	m.ManagedFields = managers
	if known {
		return nil
	}
	return r.updateManagers(context.Background(), o, nil, &req, m.CreationTimestamp.Time)
}

// RestoreError is a conflict between two objects of a Restore, or with one in the store.
type RestoreError struct {
	// Object is the index of the object that cannot be restored.
	Object int
	// Other is the index of the other object, or -1 if that is in the store.
	Other int
	// Err is the conflict.
	Err error
}

// Error returns the text of Err.
func (e *RestoreError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *RestoreError) Unwrap() error { return e.Err }

// ForRestore returns the collection of a kind for PrepareRestore. If the store has none, Restore adds it with its objects. The
// error says that another kind has the group and plural.
func (st *Store) ForRestore(k *kinds.Kind) (*Resource, error) {
	r, err := st.Known(k)
	if r == nil && err == nil {
		r = st.newResource(k.Origin()).of(k)
	}
	return r, err
}

// Restore stores all objects or, on an error, none. Watchers see them as Added.
//
// Each object is one change, in the order of the objects' versions; objects without a version come last, in the order
// given. An object keeps its version if that is above the last one of the store, else it takes the next. If version
// is not 0, the store is at this version or a later one before it stores the objects without a version.
//
// The error is a *RestoreError if two objects have the same name, uid or version, or if the
// store has an object of that name.
func (st *Store) Restore(objects []*Restored, version uint64) error {
	if st.engine != nil {
		return notOnBackend("Restore", "it gives the versions")
	}
	if version > MaxRestoredVersion {
		return fmt.Errorf("resourceVersion: Invalid value: %d: must be at most %d", version, uint64(MaxRestoredVersion))
	}
	if err := checkUnique(objects); err != nil {
		return err
	}
	inOrder := slices.Clone(objects)
	slices.SortStableFunc(inOrder, byVersion)
	at := st.changeTime()
	st.mu.Lock()
	defer st.mu.Unlock()
	for i, o := range objects {
		if err := o.r.retired.Load(); err != nil {
			return &RestoreError{i, -1, err}
		}
		have, err := st.findLocked(o.r.Kind)
		if err != nil {
			return &RestoreError{i, -1, err}
		}
		o.r = cmp.Or(have, o.r) // another Restore may have added it
		if have := o.r.lookupLocked(o.key()); have != nil {
			return &RestoreError{i, -1, meta.NewAlreadyExists(o.r.Kind.GroupResource(), have.Name())}
		}
	}
	for _, o := range inOrder {
		if have, _ := st.findLocked(o.r.Kind); have != nil {
			o.r = have // an object before this one may have added it
		} else {
			st.installLocked(o.r.of(o.r.Origin()))
		}
		if o.version > 0 {
			st.reachLocked(o.version - 1)
		} else {
			st.reachLocked(version)
		}
		o.r.publishLocked(context.Background(), &write{key: o.key(), outcome: put, obj: o.obj, size: o.size}, at)
	}
	st.reachLocked(version)
	return nil
}

// byVersion compares objects by their version. Those without one come last.
func byVersion(a, b *Restored) int {
	switch {
	case a.version == b.version:
		return 0
	case b.version == 0 || a.version != 0 && a.version < b.version:
		return -1
	}
	return 1
}

func (o *Restored) key() key {
	m := o.obj.GetObjectMeta()
	return key{m.Namespace, m.Name}
}

// reachLocked advances the counter to a version without changes in between.
func (st *Store) reachLocked(version uint64) {
	if version > st.version {
		st.version = version
		st.hub.Publish(version)
	}
}

// checkUnique refuses objects with the same name, uid or resourceVersion.
func checkUnique(objects []*Restored) error {
	type name struct {
		c *collection
		key
	}
	names := make(map[name]int, len(objects))
	uids := make(map[meta.UID]int, len(objects))
	versions := make(map[uint64]int, len(objects))
	for i, o := range objects {
		if other, ok := names[name{o.r.collection, o.key()}]; ok {
			return &RestoreError{i, other, meta.NewAlreadyExists(o.r.Kind.GroupResource(), o.key().name)}
		}
		names[name{o.r.collection, o.key()}] = i
		uid := o.obj.GetObjectMeta().UID
		if other, ok := uids[uid]; ok {
			return &RestoreError{i, other, notUnique("uid", string(uid))}
		}
		uids[uid] = i
		if o.version == 0 {
			continue
		}
		if other, ok := versions[o.version]; ok {
			return &RestoreError{i, other, notUnique("resourceVersion", o.obj.GetObjectMeta().ResourceVersion)}
		}
		versions[o.version] = i
	}
	return nil
}

func notUnique(member, value string) error {
	return fmt.Errorf("metadata.%s: Duplicate value: %q: no two objects have the same; leave it out to be given one", member, value)
}

// State returns the items of several collections at one version, each in the order of "namespace/name".
func (st *Store) State(resources ...*Resource) (items [][]*Item, version uint64) {
	snapshots := make([]snapshot, len(resources))
	st.mu.Lock()
	for i, r := range resources {
		snapshots[i] = r.snapshotLocked()
	}
	version = st.version
	st.mu.Unlock()
	for i, r := range resources {
		all, _, _ := (&selection{kind: r.Kind}).items(context.Background(), snapshots[i], "", 0)
		items = append(items, all)
	}
	return items, version
}

// FaithfulVersion returns the index of the first API version that can encode the whole object and accepts it in a
// create, or 0 if there is none. A version may lack fields: only v1alpha1 of LeaseCandidate has a list of strategies.
func (it *Item) FaithfulVersion() int {
	d := it.kind
	versions := d.Info().Versions
	if len(versions) == 1 {
		return 0
	}
	whole := -1
	for v := range versions {
		o := it.roundTrip(v)
		if o == nil || !d.Type().Equal(o, it.obj) {
			continue
		}
		if o, err := d.AsReceived(context.Background(), v, o); err == nil && len(d.ValidateCreate(v, o)) == 0 {
			return v
		}
		if whole < 0 {
			whole = v
		}
	}
	return max(whole, 0)
}

// roundTrip encodes an object in a version and decodes it again into the stored form. It
// returns nil if that is impossible.
func (it *Item) roundTrip(version int) kinds.Object {
	data, err := it.Encoded(version, kinds.JSON)
	if err != nil {
		return nil
	}
	o, err := it.kind.DecodeJSON(version, data)
	if err != nil {
		return nil
	}
	if o, err = it.kind.FromWire(context.Background(), version, o); err != nil {
		return nil
	}
	return o
}

// PrepareValid is PrepareRestore for a new object that the caller has validated by other means.
func (r *Resource) PrepareValid(o kinds.Object, req Request) (*Restored, error) {
	if err := r.restoreSystemFields(o, req); err != nil {
		return nil, err
	}
	r.Kind.ConformStored(o)
	r.Kind.Type().Settle(o)
	return &Restored{r, o, 0, r.Kind.Type().Size(o)}, nil
}

// RestoreAgain returns an object for Restore that PrepareRestore has accepted in another store: nothing is validated. It takes
// ownership of the metadata, and sets uid, creationTimestamp and the times of managedFields anew. The rest of the object may be
// shared with other stores. size is Restored.Size of the first time. change is called when the object has its uid.
func (r *Resource) RestoreAgain(o kinds.Object, size int, change func(o kinds.Object)) *Restored {
	m, now := o.GetObjectMeta(), meta.NewTime(r.st.now())
	m.UID, m.CreationTimestamp, m.ResourceVersion = r.newUID(), now, ""
	change(o)
	m.ManagedFields = slices.Clone(m.ManagedFields)
	for i := range m.ManagedFields {
		m.ManagedFields[i].Time = &now
	}
	return &Restored{r, o, 0, size}
}
