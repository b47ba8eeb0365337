package registry

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// This file puts back states: what a create makes up, a restored object brings
// along. Package store/fixture is the door to it.

// MaxRestoredVersion is the greatest resourceVersion that a restored object may
// have. It leaves room to count on.
const MaxRestoredVersion = 1<<62 - 1

// Restored is an object that is ready to be put back.
type Restored struct {
	r       *Resource
	obj     Object
	version uint64 // 0 for any
	made    bool   // its uid is made up
}

// PrepareRestore checks an object, given in the stored form with defaults filled
// in, by the rules of a create, and takes ownership of it. What the server sets
// is kept where the object says it: uid, resourceVersion, creationTimestamp,
// generation, managedFields, and the marks of a deletion that finalizers hold
// back. The rest is set as a create does, but for the name, which is not made up,
// and the resourceVersion, which Restore sees to. selfLink is dropped.
//
// Of req only Version and FieldManager count.
func (r *Resource) PrepareRestore(o Object, req Request) (*Restored, error) {
	m := o.GetObjectMeta()
	version, err := ParseRestoredVersion(m.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if errs := checkRestored(m); len(errs) > 0 {
		return nil, errs.Status(r.kind.groupKind(), m.Name)
	}
	made := m.UID == ""
	r.dedupOwners(m, &req, "")
	if err := r.restoreSystemFields(o, req); err != nil {
		return nil, err
	}
	if errs := r.kind.validateCreate(req.Version, o); len(errs) > 0 {
		return nil, errs.Status(r.kind.groupKind(), m.Name)
	}
	if r.kind.forms[0].typ.Size(o) > maxObject {
		return nil, fmt.Errorf("the object is larger than %d bytes", maxObject)
	}
	if newItem(r.kind, o, 0).reread(req.Version) == nil {
		// A time may leave the years that can be written when it is turned to UTC.
		return nil, fmt.Errorf("the object cannot be written so that it can be read again: does a time lie outside of the years 0 to 9999?")
	}
	r.st.shares.share(o, nil)
	return &Restored{r, o, version, made}, nil
}

// ParseRestoredVersion reads the resourceVersion of an object or a list that is to
// be restored. None, and "0", is 0.
func ParseRestoredVersion(text string) (uint64, error) {
	version, err := readVersion(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("metadata.%w", err)
	case version > MaxRestoredVersion:
		return 0, fmt.Errorf("metadata.resourceVersion: Invalid value: %q: must be at most %d", text, uint64(MaxRestoredVersion))
	}
	return version, nil
}

// checkRestored tells what no stored object is like, though a create would not
// mind it.
func checkRestored(m *meta.ObjectMeta) (errs field.Errors) {
	if m.Name == "" {
		errs = append(errs, field.Required(metadata+".name", "must be given; generateName alone is for requests"))
	}
	if m.DeletionTimestamp != nil && len(m.Finalizers) == 0 {
		errs = append(errs, field.Invalid(metadata+".deletionTimestamp", m.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z07:00"),
			"must not be given without finalizers: the object would be gone"))
	}
	return errs
}

// restoreSystemFields keeps what the server has set, and sets what is missing.
func (r *Resource) restoreSystemFields(o Object, req Request) error {
	m := o.GetObjectMeta()
	m.SelfLink = ""
	if m.UID == "" {
		m.UID = r.newUID()
		r.st.mu.RLock()
		r.settleUIDLocked(m)
		r.st.mu.RUnlock()
	}
	if m.Generation == 0 && !r.kind.native {
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
	if !known {
		// The moment of the create is the one that the object tells of.
		r.trackAt(o, nil, &req, m.CreationTimestamp.Time)
	}
	return nil
}

// RestoreError tells which objects of a Restore are in the way of each other, or
// of those in the store.
type RestoreError struct {
	// Object is the index of the object that cannot be put back.
	Object int
	// Other is the index of the one it is at odds with, or -1 where that is in
	// the store.
	Other int
	// Err says in what.
	Err error
}

// Error returns the text of Err.
func (e *RestoreError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *RestoreError) Unwrap() error { return e.Err }

// Restore puts objects back, all of them or, on an error, none. Watchers are told
// that they were added.
//
// Each object is a change of its own, in the order of the versions that the
// objects say. It takes its version where that is above the last one of the store,
// and the next one where it is not: so versions are kept in a new store, and their
// order in any. The store is then at version at least. Objects that say no version
// come last, in the order given.
//
// A version that is jumped over takes up history, as one that another kind has
// taken does. A watch that was there before and has not been told of all changes
// before a jump longer than the history may be told that it expired.
//
// The error is a *RestoreError where two objects are at odds: they have the same
// name, uid or resourceVersion.
func (st *Store) Restore(objects []*Restored, version uint64) error {
	if version > MaxRestoredVersion {
		return fmt.Errorf("resourceVersion: Invalid value: %d: must be at most %d", version, uint64(MaxRestoredVersion))
	}
	if err := checkDistinct(objects); err != nil {
		return err
	}
	inOrder := slices.Clone(objects)
	slices.SortStableFunc(inOrder, func(a, b *Restored) int { return cmp.Compare(a.version-1, b.version-1) }) // none is the greatest
	at := st.changeTime()
	st.mu.Lock()
	defer st.mu.Unlock()
	for i, o := range objects {
		if have := o.r.lookupLocked(o.key()); have != nil {
			return &RestoreError{i, -1, meta.NewAlreadyExists(o.r.kind.groupResource(), have.Name())}
		}
	}
	last := st.lastRestoredLocked(inOrder, version)
	for _, o := range inOrder {
		if o.version > 0 {
			st.skipLocked(o.version-1, last, at)
		} else {
			st.skipLocked(version, last, at)
		}
		if o.made {
			o.r.settleUIDLocked(o.obj.GetObjectMeta()) // the name may have been another's meanwhile
		}
		o.r.commitLocked(watch.Added, nil, o.obj, 0, at)
	}
	st.skipLocked(version, last, at)
	return nil
}

func (o *Restored) key() key {
	m := o.obj.GetObjectMeta()
	return key{m.Namespace, m.Name}
}

// lastRestoredLocked returns the version that the store will be at.
func (st *Store) lastRestoredLocked(inOrder []*Restored, version uint64) uint64 {
	last := st.version
	for _, o := range inOrder {
		if o.version == 0 {
			last = max(last, version)
		}
		last = max(last+1, o.version)
	}
	return max(last, version)
}

// skipLocked lets the versions up to one pass, on the way to the last.
func (st *Store) skipLocked(to, last uint64, at time.Time) {
	if to > st.version {
		st.version = to
		st.hub.Skip(to, last, at)
	}
}

// checkDistinct tells where two objects cannot be in one state.
func checkDistinct(objects []*Restored) error {
	type name struct {
		r *Resource
		key
	}
	names := make(map[name]int, len(objects))
	uids := make(map[meta.UID]int, len(objects))
	versions := make(map[uint64]int, len(objects))
	for i, o := range objects {
		if other, ok := names[name{o.r, o.key()}]; ok {
			return &RestoreError{i, other, meta.NewAlreadyExists(o.r.kind.groupResource(), o.key().name)}
		}
		names[name{o.r, o.key()}] = i
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
