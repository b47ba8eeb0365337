package registry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file is the order of a write. Create and Update go through the same steps
// (upstream: registry/rest, BeforeCreate and BeforeUpdate, and
// registry/generic/registry, Store):
//
//  1. make the next state: from a body, or from the current state and a Change, and
//     update its field managers (change.go)
//  2. prepare it: resourceVersion, names, and the fields that the server owns
//     (prepare.go)
//  3. validate it, and collect warnings (validate.go)
//  4. stop if it changes nothing
//  5. refuse it if it is too large (prepare.go)
//  6. commit it under the lock, or go back to step 1 if another write came first
//
// A dry run stops before step 6.

// Request holds the parameters that all writes have.
type Request struct {
	// Namespace and Name come from the path. A create ignores Name.
	Namespace, Name string
	// UID, if not "", must equal the uid of the object that a Replacement replaces.
	UID meta.UID
	// Version is the index of the API version of the request. Its rules apply.
	Version int
	// DryRun does everything except the write.
	DryRun bool
	// FieldManager is the name of the writer.
	FieldManager string
	// Status makes it a write of the status subresource, which the kind must have.
	Status bool
	// MayCreate, if not nil, returns why an update or an apply must not create the object.
	MayCreate func() error
	// Persistent writes start again as long as other writes come first.
	Persistent bool
	// Origin is a number that is recorded with the change; see RecordedChange.
	Origin uint64
	// Warn, if not nil, is called with each warning for the client.
	Warn func(text string)

	size int  // of the object, set by checkSize
	sent bool // the write went to the Backend
}

func (req *Request) warn(text string) {
	if req.Warn != nil {
		req.Warn(text)
	}
}

func (req *Request) key() key { return key{req.Namespace, req.Name} }

// maxRetries is how often a write starts again because another one came first
// (upstream: MaxRetryWhenPatchConflicts of apiserver, endpoints/handlers/patch.go;
// since 1.16 only the context of the request ends its retries).
const maxRetries = 5

// Create stores a new object, given in the stored form with defaults filled in,
// and takes ownership of it.
func (r *Resource) Create(ctx context.Context, o Object, req Request) (*Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := o.GetObjectMeta()
	wipeSystemFields(m)
	if err := matchNamespace(m, req.Namespace); err != nil {
		return nil, err
	}
	r.dedupOwners(m, &req, "")
	r.updateManagers(o, nil, &req)
	if m.Name != "" || m.GenerateName == "" {
		it, err := r.create(ctx, o, &req)
		if errors.Is(err, meta.ReasonAlreadyExists) && m.GenerateName != "" {
			return nil, r.noUniqueName(m.Name, err)
		}
		return it, err
	}
	for attempt := 1; ; attempt++ {
		m.Name = r.generateName(m.Namespace, m.GenerateName, attempt, req.DryRun)
		it, err := r.create(ctx, r.kind.copy(o), &req)
		if !errors.Is(err, meta.ReasonAlreadyExists) {
			return it, err
		}
		if attempt == generateAttempts {
			return nil, r.noUniqueName(m.Name, err)
		}
	}
}

// create stores an object with a name.
func (r *Resource) create(ctx context.Context, o Object, req *Request) (*Item, error) {
	if err := r.prepareCreate(o, req); err != nil {
		return nil, err
	}
	m := o.GetObjectMeta()
	if v, err := parseResourceVersion(m.ResourceVersion); err == nil && v != 0 && !req.DryRun {
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	if err := r.checkSize(o, req, false); err != nil {
		return nil, err
	}
	it, err := r.insert(ctx, o, req)
	if err == nil {
		return it, nil // the first question for a type of error takes 4 us
	}
	if lost, ok := errors.AsType[*lostRace](err); ok {
		return nil, r.alreadyExists(m.Name, lost.have)
	}
	return nil, err
}

// noUniqueName returns the error of a create with a generateName. taken is the error of
// a create with that name.
func (r *Resource) noUniqueName(name string, taken error) error {
	gr := r.kind.groupResource()
	return meta.NewStatusError(http.StatusConflict, meta.ReasonAlreadyExists,
		&meta.StatusDetails{Name: name, Group: gr.Group, Kind: gr.Resource, RetryAfterSeconds: 1},
		taken.Error()+", the server was not able to generate a unique name for the object")
}

// prepareCreate does steps 2 and 3 of a create.
func (r *Resource) prepareCreate(o Object, req *Request) error {
	m := o.GetObjectMeta()
	m.UID = r.newUID()
	m.CreationTimestamp = meta.NewTime(r.st.now())
	r.kind.prepareNew(o)
	if err := matchNamespace(m, req.Namespace); err != nil {
		return err
	}
	if err := (Target{r.kind, req.Version}).checkType(o); err != nil {
		return err
	}
	if errs := r.kind.validateCreate(req.Version, o); len(errs) > 0 {
		return errs.Status(r.kind.groupKind(), m.Name)
	}
	r.warnings(o, nil, req)
	return nil
}

// insert commits a new object, unless the name is taken.
func (r *Resource) insert(ctx context.Context, o Object, req *Request) (*Item, error) {
	m := o.GetObjectMeta()
	if e := r.st.engine; e != nil {
		return e.insert(ctx, r, o, req)
	}
	r.st.interned.Metadata(m, nil)
	at := r.st.changeTime()
	r.st.mu.Lock()
	defer r.st.mu.Unlock()
	full := r.st.checkQuotaLocked(int64(req.size) + objectOverhead)
	if req.DryRun || full != nil { // nothing is inserted, so that would not find the object
		if have := r.lookupLocked(key{m.Namespace, m.Name}); have != nil {
			return nil, &lostRace{have}
		}
	}
	r.deriveUIDLocked(m)
	switch {
	case req.DryRun:
		return newItem(r.kind, o, 0), nil
	case full != nil:
		return nil, full
	}
	return r.commitLocked(nil, o, req.size, req.Origin, at)
}

// alreadyExists is the error of a create that finds an object.
func (r *Resource) alreadyExists(name string, have *Item) error {
	err := meta.NewAlreadyExists(r.kind.groupResource(), name)
	if have != nil && have.meta().DeletionTimestamp != nil {
		err.Status.Message = "object is being deleted: " + err.Status.Message
	}
	return err
}

// Update makes a change to an object. created reports whether there was no object before.
// The error is a conflict if other writes came first too often, unless the request is
// Persistent.
func (r *Resource) Update(ctx context.Context, req Request, change Change) (it *Item, created bool, err error) {
	_, applied := change.(Apply)
	tries := 1 + maxRetries
	if req.Persistent {
		tries = math.MaxInt
	}
	it, err = r.attempt(ctx, &req, tries, func(current *Item) (*Item, error) {
		o, err := change.next(r, current, req)
		if err != nil {
			return nil, err
		}
		if created = current == nil; created {
			return r.createMissing(ctx, o, &req, applied)
		}
		return r.replace(ctx, current, o, &req, applied)
	})
	if err != nil && errors.Is(err, errRace) {
		err = meta.NewConflict(r.kind.groupResource(), req.Name, conflictText)
	}
	return it, created && err == nil, err
}

// createMissing stores the object of an update that found none.
func (r *Resource) createMissing(ctx context.Context, o Object, req *Request, applied bool) (*Item, error) {
	m := o.GetObjectMeta()
	if _, err := parseResourceVersion(m.ResourceVersion); err != nil {
		return nil, err
	}
	wipeSystemFields(m)
	if err := r.prepareCreate(o, req); err != nil {
		return nil, err
	}
	if req.MayCreate != nil {
		if err := req.MayCreate(); err != nil {
			return nil, err
		}
	}
	if err := r.checkSize(o, req, applied); err != nil {
		return nil, err
	}
	return r.insert(ctx, o, req)
}

// replace stores o as the state after current.
func (r *Resource) replace(ctx context.Context, current *Item, o Object, req *Request, applied bool) (*Item, error) {
	o, err := r.prepareUpdate(current, o, req)
	if err != nil {
		return nil, err
	}
	m, old := o.GetObjectMeta(), current.meta()
	last := old.DeletionTimestamp != nil && len(m.Finalizers) == 0 &&
		(old.DeletionGracePeriodSeconds == nil || *old.DeletionGracePeriodSeconds == 0)
	managers := ignoreManagerTimes(m, old)
	if !last && r.kind.forms[0].typ.Equal(o, current.obj) {
		return r.stillCurrent(current, current)
	}
	m.ManagedFields = managers
	if err := r.checkSize(o, req, applied); err != nil {
		return nil, err
	}
	if req.DryRun {
		return r.stillCurrent(current, newItem(r.kind, o, current.version))
	}
	if e := r.st.engine; e != nil {
		if !last {
			return e.put(ctx, r, req, current, o)
		}
		if _, err := e.remove(ctx, r, req, current); err != nil {
			return nil, err
		}
		return newItem(r.kind, o, current.version), nil
	}
	r.st.interned.Metadata(m, old)
	at := r.st.changeTime()
	r.st.mu.Lock()
	defer r.st.mu.Unlock()
	if !r.isCurrentLocked(current) {
		return nil, errRace
	}
	if !last {
		if err := r.st.checkQuotaLocked(int64(req.size) - int64(current.size)); err != nil {
			return nil, err
		}
		return r.commitLocked(current, o, req.size, req.Origin, at)
	}
	// The last finalizer is gone, so the object goes too. The event has the state before
	// this write, the answer the object as it was sent.
	r.tree.Delete(current.entry())
	r.removedLocked(current, req.Origin, at)
	return newItem(r.kind, o, current.version), nil
}

// stillCurrent returns answer if current is still the state of its object.
func (r *Resource) stillCurrent(current, answer *Item) (*Item, error) {
	if r.st.engine == nil && !r.isCurrent(current) { // the engine sees to it
		return nil, errRace
	}
	return answer, nil
}

// prepareUpdate does steps 2 and 3 of an update.
func (r *Resource) prepareUpdate(current *Item, o Object, req *Request) (Object, error) {
	m := o.GetObjectMeta()
	if err := r.checkVersion(current, m, req); err != nil {
		return nil, err
	}
	if err := matchNamespace(m, req.Namespace); err != nil {
		return nil, err
	}
	if err := (Target{r.kind, req.Version}).checkType(o); err != nil {
		return nil, err
	}
	m.ResourceVersion = current.meta().ResourceVersion
	m.Generation = current.meta().Generation
	if req.Status {
		o = r.kind.onlyStatus(o, current)
		m = o.GetObjectMeta()
	} else {
		r.kind.prepareSuccessor(o, current.obj)
	}
	restoreSystemFields(m, current.meta())
	if errs := r.kind.validateUpdate(req.Version, o, current.obj); len(errs) > 0 {
		return nil, errs.Status(r.kind.groupKind(), m.Name)
	}
	if !req.Status {
		r.warnings(o, current.obj, req)
	}
	return o, nil
}

// checkVersion compares the resourceVersion of an update with the current one.
func (r *Resource) checkVersion(current *Item, m *meta.ObjectMeta, req *Request) error {
	version, err := parseResourceVersion(m.ResourceVersion)
	switch {
	case err != nil:
		return err
	case version == 0 && r.kind.unconditionalUpdate:
		return nil
	case version == 0:
		return field.Errors{field.Invalid("metadata.resourceVersion", int64(0), "must be specified for an update")}.
			Status(meta.GroupKind{Group: r.kind.info.Group, Kind: r.kind.info.Plural}, req.Name)
	case version != current.version:
		return meta.NewConflict(r.kind.groupResource(), req.Name, conflictText)
	}
	return nil
}

// parseResourceVersion returns the resourceVersion of an object, 0 for "".
func parseResourceVersion(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	return strconv.ParseUint(s, 10, 64)
}

// invalidObject is an error text of upstream's etcd3 store, which clients see. A dry run of
// upstream does not reach that store, so the prefix of its keys is missing.
func (r *Resource) invalidObject(req *Request, text string) string {
	prefix := "/registry"
	if req.DryRun {
		prefix = "/"
	}
	return fmt.Sprintf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s",
		path.Join(prefix, r.kind.info.StoragePrefix, req.Namespace, req.Name), text)
}

// changeTime returns the time of a change if the history needs it. It calls the user's
// clock, so it must be called without the lock.
func (st *Store) changeTime() time.Time {
	if !st.aging {
		return time.Time{}
	}
	return st.now()
}

// commitLocked stores a state. old is the state before, or nil. obj is the state after; the
// store owns it from here on. size is its Size, and at comes from changeTime. The error is a
// *lostRace: old is nil, but there is an object.
func (r *Resource) commitLocked(old *Item, obj Object, size int, origin uint64, at time.Time) (*Item, error) {
	st := r.st
	it := newItem(r.kind, obj, st.version+1)
	it.size, it.account = uint32(size), r.account
	if have, taken := r.tree.ReplaceOrInsert(it.entry()); taken && old == nil {
		r.tree.ReplaceOrInsert(have)
		return nil, &lostRace{have.item}
	}
	setResourceVersion(obj, it.version)
	if st.bytes += it.counted(); old != nil {
		st.bytes -= old.counted()
	}
	r.publishLocked(&hub.Change[change]{At: at, Payload: change{old: old, new: it, origin: origin}})
	return it, nil
}

// removedLocked ends the removal of an object from the tree. It returns the version of the change.
func (r *Resource) removedLocked(old *Item, origin uint64, at time.Time) (version uint64) {
	r.rememberUIDLocked(old.meta())
	r.st.bytes -= old.counted()
	return r.publishLocked(&hub.Change[change]{At: at, Payload: change{old: old, origin: origin}})
}

// publishLocked ends a change that the tree has: the one place where versions are taken.
func (r *Resource) publishLocked(c *hub.Change[change]) (version uint64) {
	st, it := r.st, c.Payload.newest()
	r.fresh = nil
	st.version++
	c.Version, c.Collection, c.Namespace, c.Name, c.Size = st.version, r.id, it.Namespace(), it.Name(), it.counted()
	st.record.addLocked(c)
	st.hub.Publish(st.version, c)
	return st.version
}
