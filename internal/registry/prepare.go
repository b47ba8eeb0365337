package registry

import (
	"errors"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file sets the fields that the server owns, before an object is validated (upstream:
// apiserver, registry/rest and registry/generic; for the status, generations and
// warnings of custom resources apiextensions-apiserver, registry/customresource).

// wipeSystemFields clears the fields that a create must not set.
func wipeSystemFields(m *meta.ObjectMeta) {
	m.UID, m.SelfLink, m.CreationTimestamp = "", "", meta.Time{}
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = nil, nil
}

// restoreSystemFields restores the fields that an update must not change.
func restoreSystemFields(m, old *meta.ObjectMeta) {
	if m.UID == "" {
		m.UID = old.UID
	}
	if !old.CreationTimestamp.IsZero() {
		m.CreationTimestamp = old.CreationTimestamp
	}
	if old.DeletionTimestamp != nil {
		m.DeletionTimestamp = old.DeletionTimestamp
	}
	if old.DeletionGracePeriodSeconds != nil && m.DeletionGracePeriodSeconds == nil {
		m.DeletionGracePeriodSeconds = old.DeletionGracePeriodSeconds
	}
}

// MatchNamespace sets the namespace of the request, and refuses another one in the object.
func MatchNamespace(m *meta.ObjectMeta, namespace string) error {
	if m.Namespace == "" || namespace == "" {
		m.Namespace = namespace
	}
	if m.Namespace != namespace {
		return meta.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// MatchNames compares name and namespace of an object with the request (upstream: endpoints/handlers, checkName).
func (r *Resource) MatchNames(m *meta.ObjectMeta, namespace, name string) error {
	if err := MatchNamespace(m, namespace); err != nil {
		return err
	}
	switch m.Name {
	case "":
		return meta.NewBadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", name)
	case name:
		return nil
	}
	return meta.NewBadRequest("the name of the object (%s) does not match the name on the URL (%s)", m.Name, name)
}

// dedupOwners removes duplicate owner references, with a warning. when is part of its text.
func (req *Request) dedupOwners(m *meta.ObjectMeta, when string) {
	if len(m.OwnerReferences) > 1 {
		req.dedupMany(m, when)
	}
}

// dedupMany takes more of the stack than most writes need.
func (req *Request) dedupMany(m *meta.ObjectMeta, when string) {
	type identity struct {
		meta.OwnerReference        // without pointers
		controller, block   string // what they point to
	}
	text := func(b *bool) string {
		if b == nil {
			return ""
		}
		return strconv.FormatBool(*b)
	}
	seen := make(map[identity]bool, len(m.OwnerReferences))
	kept := make([]meta.OwnerReference, 0, len(m.OwnerReferences))
	var duplicates []string
	for _, ref := range m.OwnerReferences {
		id := identity{ref, text(ref.Controller), text(ref.BlockOwnerDeletion)}
		id.Controller, id.BlockOwnerDeletion = nil, nil
		if seen[id] {
			duplicates = append(duplicates, string(ref.UID))
			continue
		}
		seen[id] = true
		kept = append(kept, ref)
	}
	if duplicates == nil {
		return
	}
	m.OwnerReferences = kept
	req.warn(".metadata.ownerReferences contains duplicate entries" + when +
		"; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " +
		strings.Join(duplicates, ", "))
}

// maxObject bounds the stored form of an object, in bytes: the request limit of etcd.
const maxObject = 1536 << 10

// checkSize returns the size of an object. It refuses one that is too large for etcd.
func (r *Resource) checkSize(o kinds.Object, applied bool) (int, error) {
	size := r.Kind.Type().Size(o)
	if size <= maxObject {
		return size, nil
	}
	// Upstream drops the managers rather than refuse the write.
	if m := o.GetObjectMeta(); !applied && len(m.ManagedFields) > 0 {
		m.ManagedFields = nil
		return r.checkSize(o, applied)
	}
	return size, errors.New("etcdserver: request is too large")
}

// objectOverhead is the fixed cost charged per object: about the memory of a small one.
const objectOverhead = 1 << 10

// counted returns the bytes of a stored item in the quota and in the history.
func (it *Item) counted() int64 { return int64(it.size) + objectOverhead }
