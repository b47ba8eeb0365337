package managedfields

import (
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Update sets the managedFields of obj for a write that is not an apply. obj is
// the object to store, in the requested version, with the managedFields of the
// request. live is the object it replaces in the same version, or nil. now is the
// time of the write.
//
// The new managedFields may share memory with live's, so neither may be changed
// afterwards. Nothing else in obj changes.
//
// live's managedFields must come from this package.
func (k *Kind) Update(version int, live, obj Object, manager string, now time.Time) {
	m := obj.GetObjectMeta()
	if live != nil {
		if entries, ok := k.renew(version, live, obj, manager, now); ok {
			m.ManagedFields = entries
			return
		}
	}
	os, err := k.track(version, live, obj, manager, now)
	if err == nil {
		m.ManagedFields = os.encode()
		return
	}
	// As upstream, the record stays if tracking fails.
	m.ManagedFields = nil
	if live != nil {
		m.ManagedFields = live.GetObjectMeta().ManagedFields
	}
}

// track is Update without the shortcut for renewals.
func (k *Kind) track(version int, live, obj Object, manager string, now time.Time) (owners, error) {
	var had []meta.ManagedFieldsEntry
	isNew := live == nil || live.GetObjectMeta().UID == ""
	if live == nil {
		live = k.Versions[version].New()
	} else {
		had = live.GetObjectMeta().ManagedFields
	}
	sent := obj.GetObjectMeta().ManagedFields
	if k.Subresource != "" {
		sent = nil
	}
	os := given(sent, had)
	if len(os) == 0 && !isNew {
		return nil, nil
	}
	before, after := k.outline(version, live), k.outline(version, obj)
	id := updater(manager, k.Versions[version].APIVersion, k.Subresource)
	return k.credit(before, after, os, id, len(had) > 0, now)
}

// given returns the owners before a write: those in the request, or the current
// ones if the request has none or they cannot be decoded.
func given(sent, had []meta.ManagedFieldsEntry) owners {
	if isReset(sent) {
		return nil
	}
	os, err := decode(sent)
	if err != nil || len(os) == 0 {
		os, _ = decode(had)
	}
	return os
}

// credit makes an updater the owner of the fields in which two documents differ.
// hadRecord reports that before had managedFields, which upstream sees removed.
func (k *Kind) credit(before, after document, os owners, id identity, hadRecord bool, now time.Time) (owners, error) {
	os, err := reconcile(before, os)
	if err != nil {
		return nil, err
	}
	c := change{before: before, after: after, recordVanished: hadRecord}
	if os, err = c.settle(os, identity{}); err != nil {
		return nil, err
	}
	own, err := c.in(k.Versions[before.version].APIVersion)
	if err != nil {
		return nil, err
	}
	if gained := ownable(own.gained); gained != nil {
		o := owner{identity: id, version: id.APIVersion, fields: gained, time: new(meta.NewTime(now))}
		if have := os.find(id); have != nil {
			o.fields, o.printed = union(gained, have.fields), have.printed
		}
		os = os.put(o)
	}
	return os.capped(), nil
}

// reconcile drops owners in versions that the kind does not have, and fits the
// sets of others to the schema.
func reconcile(live document, os owners) (owners, error) {
	out := make(owners, 0, len(os))
	schemas := map[string]schema{}
	for _, o := range os {
		s, ok := schemas[o.version]
		if !ok {
			d, err := live.in(o.version)
			if errors.Is(err, errNoVersion) {
				continue
			}
			if err != nil {
				return nil, err
			}
			s = d.schema()
			schemas[o.version] = s
		}
		o.fields = s.reconcile(o.fields)
		out = append(out, o)
	}
	return out, nil
}
