package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file is the order of a write. Create and Update go through the same steps (upstream: registry/rest,
// BeforeCreate and BeforeUpdate, and registry/generic/registry, Store):
//
//  1. make the next state: from a body, or from the current state and a Change, and
//     update its field managers (change.go)
//  2. prepare it: resourceVersion, names, and the fields that the server owns
//     (prepare.go), and what it needs beside itself (gate.go)
//  3. validate it, and collect warnings (internal/kinds, validate.go)
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
	// Sub, if not nil, is the subresource of the kind that is written.
	Sub *kinds.Subresource
	// Warn, if not nil, is called with each warning for the client.
	Warn func(text string)
	// Guard is for the Admission and the Claims of the store, or nil.
	Guard *Guard
}

func (req *Request) warn(text string) {
	if req.Warn != nil {
		req.Warn(text)
	}
}

func (req *Request) key() key { return key{req.Namespace, req.Name} }

// maxRetries is how often a write starts again because another one came first (upstream: MaxRetryWhenPatchConflicts
// of apiserver, endpoints/handlers/patch.go; since 1.16 only the context of the request ends its retries).
const maxRetries = 5

// Create stores a new object, given in the stored form with defaults filled in, and takes ownership of it.
func (r *Resource) Create(ctx context.Context, o kinds.Object, req *Request) (it *Item, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := o.GetObjectMeta()
	wipeSystemFields(m)
	if err := MatchNamespace(m, req.Namespace); err != nil {
		return nil, err
	}
	req.dedupOwners(m, "")
	if err := r.updateManagers(ctx, o, nil, req, r.st.now()); err != nil {
		return nil, err
	}
	req.Name = m.Name
	gate := r.st.gate
	end := gate.begin(ctx, r, req)
	defer func() { end(it != nil && it.version > 0) }()
	if err := r.mayCreate(req.Name); err != nil {
		return nil, err
	}
	if o, err = gate.admit(ctx, r, o, nil, req, true); err != nil {
		return nil, err
	}
	m = o.GetObjectMeta()
	req.dedupOwners(m, afterAdmission)
	if !r.Info().Stored() {
		return r.answer(ctx, o, req)
	}
	if m.Name != "" || m.GenerateName == "" {
		it, err := r.create(ctx, o, req)
		if errors.Is(err, meta.ReasonAlreadyExists) && m.GenerateName != "" {
			return nil, r.noUniqueName(m.Name, err)
		}
		return it, err
	}
	for attempt := 1; ; attempt++ {
		m.Name = r.generateName(m.GenerateName)
		it, err := r.create(ctx, r.Kind.Copy(o), req)
		if !errors.Is(err, meta.ReasonAlreadyExists) {
			return it, err
		}
		end(false)
		if attempt == generateAttempts {
			return nil, r.noUniqueName(m.Name, err)
		}
	}
}

// answer is the create of an object that is not kept. It has no rules for the metadata, and the error does not name
// the kind (upstream: the storages in registry/authorization and registry/authentication).
func (r *Resource) answer(ctx context.Context, o kinds.Object, req *Request) (*Item, error) {
	o.GetObjectMeta().CreationTimestamp = meta.Time{}
	if errs := r.Kind.ValidateContent(req.Version, o); len(errs) > 0 {
		return nil, errs.Status(meta.GroupKind{Group: r.Info().Group}, "")
	}
	if err := r.st.gate.mayWrite(ctx, r, o, nil, req); err != nil {
		return nil, err
	}
	if to := r.Kind.Native().Through; to != nil {
		return newItem(r.Kind, o, 0), r.createThrough(ctx, to, o, req)
	}
	r.Kind.PrepareNew(ctx, o)
	if complete := r.Kind.Native().Answer; complete != nil {
		if err := complete(ctx, o); err != nil {
			return nil, err
		}
	}
	return newItem(r.Kind, o, 0), nil
}

// create stores an object with a name.
func (r *Resource) create(ctx context.Context, o kinds.Object, req *Request) (*Item, error) {
	w, err := r.planCreate(ctx, o, req)
	if err != nil {
		return nil, err
	}
	m := o.GetObjectMeta()
	if !w.dry {
		err = r.commit(ctx, &w)
	} else if have, getErr := r.st.source.get(ctx, r, w.key); have != nil {
		err = &lostRace{have}
	} else {
		err = getErr
	}
	if lost, ok := err.(*lostRace); ok {
		err = r.alreadyExists(m.Name, lost.have)
	}
	if err != nil {
		return nil, err
	}
	return w.answer, nil
}

// planCreate does the steps of a create before the commit.
func (r *Resource) planCreate(ctx context.Context, o kinds.Object, req *Request) (w write, err error) {
	if err := r.prepareCreate(ctx, o, req); err != nil {
		return w, err
	}
	if err := r.mayWriteNew(ctx, o, req); err != nil {
		return w, err
	}
	if v, err := parseResourceVersion(o.GetObjectMeta().ResourceVersion); err == nil && v != 0 && !req.DryRun {
		return w, errors.New("resourceVersion should not be set on objects to be created")
	}
	return r.creation(ctx, o, req, false)
}

// mayWriteNew asks about an object that is valid, before it is stored.
func (r *Resource) mayWriteNew(ctx context.Context, o kinds.Object, req *Request) error {
	if err := r.mayCreate(o.GetObjectMeta().Name); err != nil {
		return err
	}
	return r.st.gate.mayWrite(ctx, r, o, nil, req)
}

// creation returns the write of a new object after steps 2 and 3.
func (r *Resource) creation(ctx context.Context, o kinds.Object, req *Request, applied bool) (w write, err error) {
	o, filled, err := r.Kind.Settle(ctx, o)
	if err != nil {
		return w, err
	}
	m := o.GetObjectMeta()
	w = write{key: key{m.Namespace, m.Name}, outcome: put, dry: req.DryRun, obj: o, filled: filled}
	if w.dry {
		w.answer = newItem(r.Kind, o, 0)
		return w, nil
	}
	w.size, err = r.checkSize(o, applied)
	return w, err
}

// noUniqueName returns the error of a create with a generateName. taken is the error of a create with that name.
func (r *Resource) noUniqueName(name string, taken error) error {
	gr := r.Kind.GroupResource()
	return meta.NewStatusError(http.StatusConflict, meta.ReasonAlreadyExists,
		&meta.StatusDetails{Name: name, Group: gr.Group, Kind: gr.Resource, RetryAfterSeconds: 1},
		taken.Error()+", the server was not able to generate a unique name for the object")
}

// prepareCreate does steps 2 and 3 of a create.
func (r *Resource) prepareCreate(ctx context.Context, o kinds.Object, req *Request) error {
	m := o.GetObjectMeta()
	m.UID = r.newUID()
	m.CreationTimestamp = meta.NewTime(r.st.now())
	r.Kind.Conform(o)
	if err := r.st.gate.claim(ctx, r, o, nil, req); err != nil {
		return err
	}
	r.Kind.EarlyWarnings(o, req.warn)
	r.Kind.PrepareNew(ctx, o)
	if err := MatchNamespace(m, req.Namespace); err != nil {
		return err
	}
	if err := r.validate(ctx, req, o, nil, o); err != nil {
		return err
	}
	r.Kind.Warnings(o, nil, req.warn)
	return nil
}

// alreadyExists is the error of a create that finds an object.
func (r *Resource) alreadyExists(name string, have *Item) error {
	err := meta.NewAlreadyExists(r.Kind.GroupResource(), name)
	if have != nil && have.meta().DeletionTimestamp != nil {
		err.Status.Message = "object is being deleted: " + err.Status.Message
	}
	return err
}

// Update makes a change to an object. created reports whether there was no object before. The error is a conflict if
// other writes came first too often, unless the change persists.
func (r *Resource) Update(ctx context.Context, req *Request, change Change) (it *Item, created bool, err error) {
	if body, ok := change.(bodyChange); ok && req.Sub != nil && req.Sub.Body != nil {
		change = through{body}
	}
	w, err := r.attempt(ctx, req, change)
	if err != nil {
		return nil, false, err
	}
	return w.answer, w.old == nil, nil
}

// attempt makes a change until no other write comes first. It begins with the state in the tree, which on a Backend
// may be old. What is decided from that without a commit, a refusal or a write that changes nothing, is decided again
// unless that is the present state (upstream: apiserver, storage/etcd3/store.go, GuaranteedUpdate).
func (r *Resource) attempt(ctx context.Context, req *Request, c Change) (w write, err error) {
	var current *Item
	confirmed := false
	if s, ok := c.(*Sent); ok {
		current = s.found
	}
	if current == nil {
		current = r.lookup(req.key())
	}
	for retries := 0; ; {
		if err := ctx.Err(); err != nil {
			return write{}, err
		}
		if current != nil && r.Kind.Remembers(req.Version) {
			_, deletes := c.(deletion)
			if err := r.convertBefore(ctx, current, req.Version, deletes || req.DryRun); err != nil {
				return write{}, err
			}
		}
		committed, err := r.once(ctx, current, req, c, &w)
		if committed {
			lost, isLost := err.(*lostRace)
			switch {
			case !isLost:
				return w, err
			case retries == maxRetries && !persists(c):
				return w, meta.NewConflict(r.Kind.GroupResource(), req.Name, conflictText)
			}
			retries++
			current, confirmed = r.read(lost.have), true
			continue
		}
		if confirmed {
			return w, err
		}
		have, getErr := r.st.source.get(ctx, r, req.key())
		if getErr != nil {
			return write{}, getErr
		}
		if sameState(have, current) {
			return w, err
		}
		current, confirmed = have, true
	}
}

// once plans a change, and commits it if there is something to commit.
func (r *Resource) once(ctx context.Context, current *Item, req *Request, c Change, w *write) (committed bool, err error) {
	end := r.st.gate.begin(ctx, r, req)
	defer func() { end(committed && err == nil && w.obj != nil) }()
	if *w, err = c.plan(ctx, r, current, req); err != nil || w.dry || w.outcome == unchanged {
		return false, err
	}
	return true, r.commit(ctx, w)
}

// commit is step 6. What an object that is gone had claimed is released.
func (r *Resource) commit(ctx context.Context, w *write) (err error) {
	if err := r.checkName(w); err != nil {
		return err
	}
	*w, err = r.st.source.commit(ctx, r, *w)
	if err == nil && w.outcome == remove {
		r.st.gate.release(ctx, r, w.old)
	}
	return err
}

// checkName returns the error of an object of another name: no rule has seen what the last function of the kind has done.
func (r *Resource) checkName(w *write) error {
	if w.obj == nil {
		return nil
	}
	m := w.obj.GetObjectMeta()
	if m.Namespace == w.namespace && m.Name == w.name {
		return nil
	}
	return meta.NewInternalError(fmt.Errorf("a function of the kind %s has changed the namespace or the name of %s/%s: got %s/%s",
		r.Info().Kind, w.namespace, w.name, m.Namespace, m.Name))
}

// convertBefore does the conversions that an update makes of the state before it: to the version of the request, for which the
// result of an earlier one will do, and back. The kind Remembers them. A deletion and a dry run find the state in storage and not in the
// watch cache (upstream: apiserver, storage/etcd3, getStateFromObject).
func (r *Resource) convertBefore(ctx context.Context, current *Item, version int, stored bool) error {
	o, err := r.Kind.Convert(ctx, current.obj, 0, version, kind.Reuse(!stored))
	switch {
	case err != nil && stored:
		return current.internalError(err)
	case err != nil:
		return current.notDecodable(err)
	case stored:
		return nil
	}
	_, err = r.Kind.Convert(ctx, o, version, 0, kind.Anew)
	return err
}

// lostRace sends a write back to its first step. It is never wrapped.
type lostRace struct {
	have *Item // the state that another write left; nil after a deletion
}

func (*lostRace) Error() string { return "another write came first" }

// sameState reports whether two items, which may be nil, have the same version.
func sameState(a, b *Item) bool {
	return a == nil && b == nil || a != nil && b != nil && a.version == b.version
}

// write is a change that is ready for step 6.
type write struct {
	key
	outcome outcome
	dry     bool         // nothing is committed, whatever the outcome
	old     *Item        // the state that it replaces; nil if there must be none
	obj     kinds.Object // the next state; nil unless one is put
	size    int          // of obj
	held    int          // bytes of old that obj does not share
	filled  bool         // see Item

	answer  *Item  // set by the commit of an obj, and before it otherwise
	version uint64 // of the commit
}

// outcome is what a write does to the object.
type outcome int

const (
	unchanged     outcome = iota // it stays as it is
	put                          // it has another state
	putThenRemove                // it is marked as deleted, and another write removes it at once
	remove
)

// replace does steps 2 to 5 of an update: o is the state after current, which may be nil.
func (r *Resource) replace(ctx context.Context, current *Item, o kinds.Object, req *Request, applied bool) (w write, err error) {
	if current == nil {
		return r.createMissing(ctx, o, req, applied)
	}
	if o, err = r.prepareUpdate(ctx, current, o, req); err != nil {
		return w, err
	}
	m, old := o.GetObjectMeta(), current.meta()
	managers := ignoreManagerTimes(m, old)
	if err := r.st.gate.mayWrite(ctx, r, o, current, req); err != nil {
		return w, err
	}
	o, filled, err := r.Kind.Settle(ctx, o)
	if err != nil {
		return w, err
	}
	w = write{key: current.key(), outcome: put, dry: req.DryRun, old: current, obj: o, filled: filled}
	last := old.DeletionTimestamp != nil && !r.Kind.Holds(o) &&
		(old.DeletionGracePeriodSeconds == nil || *old.DeletionGracePeriodSeconds == 0)
	same := r.Kind.Type().Equal(o, current.obj)
	if m = o.GetObjectMeta(); !same {
		m.ManagedFields = managers
	}
	if m.SelfLink != "" && !req.DryRun && !last {
		m.SelfLink = "" // only what is stored has none
		same = r.Kind.Type().Equal(o, current.obj)
	}
	if !last && same && filled == current.isFilled() {
		w.answer, w.outcome = current, unchanged
		return w, nil
	}
	if w.dry {
		w.answer = newItem(r.Kind, o, current.version)
		return w, nil
	}
	w.size, err = r.checkSize(o, applied)
	if last {
		// The last finalizer is gone, so the object goes too. The event has the state before
		// this write, the answer the object as it was sent.
		w.outcome, w.obj, w.answer = remove, nil, newItem(r.Kind, o, current.version)
	}
	return w, err
}

// createMissing is replace for an update that found no object.
func (r *Resource) createMissing(ctx context.Context, o kinds.Object, req *Request, applied bool) (w write, err error) {
	m := o.GetObjectMeta()
	if _, err := parseResourceVersion(m.ResourceVersion); err != nil {
		return w, err
	}
	wipeSystemFields(m)
	if err := r.prepareCreate(ctx, o, req); err != nil {
		return w, err
	}
	if g := req.Guard; g != nil && g.MayCreate != nil {
		if err := g.MayCreate(); err != nil {
			return w, err
		}
	}
	if err := r.mayWriteNew(ctx, o, req); err != nil {
		return w, err
	}
	return r.creation(ctx, o, req, applied)
}

// prepareUpdate does steps 2 and 3 of an update.
func (r *Resource) prepareUpdate(ctx context.Context, current *Item, o kinds.Object, req *Request) (kinds.Object, error) {
	r.Kind.Conform(o)
	m := o.GetObjectMeta()
	if err := r.checkVersion(current, m, req); err != nil {
		return nil, err
	}
	if err := MatchNamespace(m, req.Namespace); err != nil {
		return nil, err
	}
	m.ResourceVersion = current.meta().ResourceVersion
	m.Generation = current.meta().Generation
	if err := r.st.gate.claim(ctx, r, o, current, req); err != nil {
		return nil, err
	}
	body := o // a subresource takes over nothing of its type
	partial := req.Sub != nil && req.Sub.Body == nil
	if partial {
		var err error
		if o, err = r.Kind.PrepareSubresource(ctx, req.Sub, o, current.obj); err != nil {
			return nil, err
		}
		m = o.GetObjectMeta()
	} else if err := r.Kind.PrepareSuccessor(ctx, o, current.obj); err != nil {
		return nil, err
	}
	restoreSystemFields(m, current.meta())
	if err := r.validate(ctx, req, o, current.obj, body); err != nil {
		return nil, err
	}
	if partial {
		r.Kind.SubresourceWarnings(req.Sub, o, current.obj, req.warn)
	} else {
		r.Kind.Warnings(o, current.obj, req.warn)
	}
	return o, nil
}

// checkVersion compares the resourceVersion of an update with the current one.
func (r *Resource) checkVersion(current *Item, m *meta.ObjectMeta, req *Request) error {
	version, err := parseResourceVersion(m.ResourceVersion)
	switch {
	case err != nil:
		return err
	case version == 0 && r.Kind.Strategy().Update.Unconditional:
		return nil
	case version == 0:
		return field.Errors{field.Invalid("metadata.resourceVersion", int64(0), "must be specified for an update")}.
			Status(meta.GroupKind{Group: r.Info().Group, Kind: r.Info().Plural}, req.Name)
	case version != current.version:
		return meta.NewConflict(r.Kind.GroupResource(), req.Name, conflictText)
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
		path.Join(prefix, r.Info().StoragePrefix, req.Namespace, req.Name), text)
}
