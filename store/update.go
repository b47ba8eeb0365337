package store

import (
	"errors"
	"fmt"
	"path"
	"strconv"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Update replaces an object by what apply makes of its current state, which
// is nil where there is none. Another writer that comes in between makes apply
// be called again, so it must not change what it captures. apply returns an
// object in the stored form that the store may own. created tells that there
// was none before.
//
// A UID other than "" is a precondition on the current object.
func (r *Resource) Update(req Request, uid meta.UID, apply func(current *Item) (Object, error)) (it *Item, created bool, err error) {
	k := key{req.Namespace, req.Name}
	for {
		current := r.lookup(k)
		if current == nil && (req.Status || !r.kind.createOnUpdate && !req.Applied) {
			return nil, false, meta.NewNotFound(r.kind.groupResource(), req.Name)
		}
		if err := r.checkUID(uid, current, k); err != nil {
			return nil, false, err
		}
		o, err := apply(current)
		if err != nil {
			return nil, false, err
		}
		if !req.Patch {
			r.dedupOwners(o.GetObjectMeta(), req)
		}
		if !req.Applied {
			r.track(o, current, req)
		}
		if req.Patch {
			r.dedupOwners(o.GetObjectMeta(), req)
		}
		if current == nil {
			it, done, err := r.createByUpdate(o, req)
			if done {
				return it, err == nil, err
			}
			continue
		}
		it, done, err := r.replace(current, o, req)
		if done {
			return it, false, err
		}
	}
}

// checkUID holds the uid of an update against the record. The text is that of
// etcd's store, which real servers let through.
func (r *Resource) checkUID(uid meta.UID, current *Item, k key) error {
	if uid == "" {
		return nil
	}
	var have meta.UID
	if current != nil {
		have = current.UID()
	}
	if uid == have {
		return nil
	}
	return meta.NewConflict(r.kind.groupResource(), k.name, r.invalidObject(k,
		fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, have)))
}

func (r *Resource) invalidObject(k key, text string) string {
	return fmt.Sprintf("StorageError: invalid object, Code: 4, Key: /registry/%s, ResourceVersion: 0, AdditionalErrorMsg: %s",
		path.Join(r.kind.storagePrefix, k.namespace, k.name), text)
}

// createByUpdate stores the object of an update that found none. done is false
// where another writer was faster.
func (r *Resource) createByUpdate(o Object, req Request) (it *Item, done bool, err error) {
	m := o.GetObjectMeta()
	if _, err := parseVersion(m.ResourceVersion); err != nil {
		return nil, true, err
	}
	wipeSystemFields(m)
	if err := r.prepareCreate(o, req); err != nil {
		return nil, true, err
	}
	if err := r.checkSize(o, req); err != nil {
		return nil, true, err
	}
	it, err = r.insert(o, req)
	if errors.Is(err, meta.ReasonAlreadyExists) {
		return nil, false, nil
	}
	return it, true, err
}

// replace puts o in the place of current. done is false where current is no
// longer that.
func (r *Resource) replace(current *Item, o Object, req Request) (it *Item, done bool, err error) {
	o, err = r.prepareUpdate(current, o, req)
	if err != nil {
		return nil, true, err
	}
	m, old := o.GetObjectMeta(), current.meta()
	gone := old.DeletionTimestamp != nil && len(m.Finalizers) == 0 &&
		(old.DeletionGracePeriodSeconds == nil || *old.DeletionGracePeriodSeconds == 0)
	restore := keepManagerTimes(m, old)
	if !gone && r.kind.forms[0].typ.Equal(o, current.obj) {
		return current, r.isCurrent(current), nil
	}
	restore()
	if err := r.checkSize(o, req); err != nil {
		return nil, true, err
	}
	if req.DryRun {
		return newItem(r.kind, o, current.version), r.isCurrent(current), nil
	}
	r.st.shares.share(o, current.obj)
	r.st.mu.Lock()
	defer r.st.mu.Unlock()
	if !r.isCurrentLocked(current) {
		return nil, false, nil
	}
	if !gone {
		return r.commitLocked(watch.Modified, current, o, req.Origin), true, nil
	}
	// The last finalizer went: the object goes with it. The event tells the
	// state before this write, the answer the object as it was sent.
	r.commitLocked(watch.Deleted, current, current.copy(), req.Origin)
	return newItem(r.kind, o, current.version), true, nil
}

// prepareUpdate holds o against the state it replaces and makes it its
// successor, which it returns.
func (r *Resource) prepareUpdate(current *Item, o Object, req Request) (Object, error) {
	m := o.GetObjectMeta()
	version, err := parseVersion(m.ResourceVersion)
	if err != nil {
		return nil, err
	}
	switch {
	case version == 0 && r.kind.unconditionalUpdate:
		m.ResourceVersion = current.meta().ResourceVersion
	case version == 0:
		return nil, field.Errors{field.Invalid("metadata.resourceVersion", int64(0), "must be specified for an update")}.
			Status(meta.GroupKind{Group: r.kind.group, Kind: r.kind.plural}, req.Name)
	case version != current.version:
		return nil, meta.NewConflict(r.kind.groupResource(), req.Name, conflictText)
	}
	if err := matchNamespace(m, req.Namespace); err != nil {
		return nil, err
	}
	m.ResourceVersion = current.meta().ResourceVersion
	m.Generation = current.meta().Generation
	if req.Status {
		o = r.kind.onlyStatus(o, current)
		m = o.GetObjectMeta()
	} else {
		r.kind.succeed(o, current.obj)
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

// parseVersion reads the resourceVersion of an object; none is 0.
func parseVersion(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	return strconv.ParseUint(s, 10, 64)
}
