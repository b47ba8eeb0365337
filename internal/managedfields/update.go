package managedfields

import (
	"errors"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Update sets the managedFields of obj for a write that is not an apply. obj is the
// object to store, in the requested version, with the managedFields of the request.
// live is the object that obj replaces, in the same version, or nil. now is the time
// of the write.
//
// Update changes nothing else in obj. The new managedFields may share memory with the
// managedFields of live, so neither may be changed afterwards.
//
// The managedFields of live must come from this package.
func (k *FieldManager) Update(version int, live, obj Object, manager string, now time.Time) {
	var had []meta.ManagedFieldsEntry
	if live != nil {
		had = live.GetObjectMeta().ManagedFields
	}
	m := obj.GetObjectMeta()
	if !k.fits(version, live) || !k.fits(version, obj) {
		m.ManagedFields = had
		return
	}
	if live == nil && len(m.ManagedFields) == 0 && k.Subresource == "" {
		if entries, ok := k.created(version, obj, manager, now); ok {
			m.ManagedFields = entries
			return
		}
	}
	if live != nil {
		if entries, ok := k.renewed(version, live, obj, manager, now); ok {
			m.ManagedFields = entries
			return
		}
	}
	os, err := k.track(had, version, live, obj, manager, now)
	m.ManagedFields = had
	if err == nil { // as upstream, they do not change if tracking fails
		m.ManagedFields = os.encode()
	}
}

// fits reports whether the members of a custom resource have the types of the schema. They are checked later, but not those that the
// write is about to reset (upstream: structuredmerge.go, ObjectToTyped).
func (k *FieldManager) fits(version int, o Object) bool {
	if o == nil || k.Versions[version].Type.TreeSchema() == nil {
		return true
	}
	s := k.schema(version)
	var m codec.Members
	for m.Walk(k.of(version, o).value(), codec.Value{}); m.Next(); {
		below, declared := s.member(m.Name)
		if !declared && s.typ.IsClosed() || m.X.IsTree() && !below.fits(m.X.Tree()) {
			return false
		}
	}
	return true
}

// track returns the owners after a write. had are the managedFields of live.
func (k *FieldManager) track(had []meta.ManagedFieldsEntry, version int, live, obj Object, manager string, now time.Time) (owners, error) {
	isNew := live == nil || live.GetObjectMeta().UID == ""
	sent := obj.GetObjectMeta().ManagedFields
	if k.Subresource != "" {
		sent = nil
	}
	os := k.ownersBefore(sent, had)
	if len(os) == 0 && !isNew {
		return nil, nil
	}
	if live == nil {
		live = k.empty(version)
	}
	id := updater(manager, k.Versions[version].APIVersion, k.Subresource)
	return k.recordUpdate(k.of(version, live), k.of(version, obj), os, id, len(had) > 0, now)
}

// ownersBefore returns the owners before a write: the owners in the request, or the
// current ones if the request has none or they cannot be decoded.
func (k *FieldManager) ownersBefore(sent, had []meta.ManagedFieldsEntry) owners {
	if isReset(sent) {
		return nil
	}
	found, err := k.decode(sent)
	if err != nil || len(found) == 0 {
		found, _ = k.decode(had)
	}
	return found
}

// recordUpdate makes an updater the owner of the fields in which two documents
// differ. hadManagedFields reports whether before had managedFields.
func (k *FieldManager) recordUpdate(before, after document, os owners, id identity, hadManagedFields bool, now time.Time) (owners, error) {
	os, err := reconcile(before, os)
	if err != nil {
		return nil, err
	}
	c := change{before: before, after: after, hadManagedFields: hadManagedFields}
	own, err := c.inVersion(k.Versions[before.version].APIVersion)
	if err != nil {
		return nil, err
	}
	gained := recordable(own.gained)
	if have := os.find(id); have != nil { // it loses the changed fields, and gains them again
		lost := difference(own.gained, gained)
		have.fields = union(difference(difference(have.fields, lost), own.removed), gained)
	}
	if os, err = c.takeFromOthers(os, id); err != nil {
		return nil, err
	}
	if gained != nil {
		o := owner{identity: id, version: id.APIVersion, fields: gained}
		if have := os.find(id); have != nil {
			o = *have
		}
		o.time = new(meta.NewTime(now))
		os = os.put(o)
	}
	return os.capped(), nil
}

// reconcile drops the owners in versions that the kind does not have. It returns an error if the
// object cannot be converted to the version of another owner.
func reconcile(live document, os owners) (owners, error) {
	out := make(owners, 0, len(os))
	for _, o := range os {
		known := slices.ContainsFunc(out, func(have owner) bool { return have.version == o.version })
		if !known {
			_, err := live.inVersion(o.version)
			if errors.Is(err, errNoVersion) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}
