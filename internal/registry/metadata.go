package registry

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// This file holds what the server does to metadata on its own, whatever the
// kind (upstream: apiserver, registry/rest and registry/generic).

// setVersion gives an object the version of the change that made it.
func setVersion(o Object, version uint64) {
	o.GetObjectMeta().ResourceVersion = strconv.FormatUint(version, 10)
}

// wipeSystemFields drops what only the server may set on a new object.
func wipeSystemFields(m *meta.ObjectMeta) {
	m.UID, m.SelfLink = "", ""
	m.CreationTimestamp = meta.Time{}
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = nil, nil
}

// restoreSystemFields puts back what an update cannot change.
func restoreSystemFields(m, old *meta.ObjectMeta) {
	m.SelfLink = ""
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

// deletionFinalizers applies the policy of a deletion to the finalizers that
// stand for one: both go, then the wanted one is appended. Without a policy
// the object's own one stays.
func deletionFinalizers(finalizers []string, o meta.DeleteOptions) []string {
	var orphan, foreground bool
	switch {
	case o.OrphanDependents != nil:
		orphan = *o.OrphanDependents
	case o.PropagationPolicy != nil:
		orphan = *o.PropagationPolicy == meta.DeletePropagationOrphan
		foreground = *o.PropagationPolicy == meta.DeletePropagationForeground
	default:
		for _, f := range finalizers {
			orphan = f == meta.FinalizerOrphanDependents
			foreground = f == meta.FinalizerDeleteDependents
			if orphan || foreground {
				break
			}
		}
	}
	if !orphan && !foreground && !slices.Contains(finalizers, meta.FinalizerOrphanDependents) &&
		!slices.Contains(finalizers, meta.FinalizerDeleteDependents) {
		return finalizers
	}
	var out []string
	for _, f := range finalizers {
		if f != meta.FinalizerOrphanDependents && f != meta.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	if orphan {
		out = append(out, meta.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, meta.FinalizerDeleteDependents)
	}
	if sameSet(out, finalizers) {
		return finalizers
	}
	return out
}

func sameSet(a, b []string) bool {
	has := func(in []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(in, s) }
	}
	return !slices.ContainsFunc(a, has(b)) && !slices.ContainsFunc(b, has(a))
}

// markDeleting sets what a deletion leaves on an object that finalizers hold.
func (st *Store) markDeleting(m *meta.ObjectMeta) {
	now := meta.NewTime(st.now())
	if m.DeletionTimestamp == nil && m.Generation > 0 {
		m.Generation++
	}
	if m.DeletionTimestamp == nil || m.DeletionTimestamp.After(st.now()) {
		m.DeletionTimestamp = &now
	}
	m.DeletionGracePeriodSeconds = new(int64(0))
}

// matchNamespace fills in the namespace of the request, which is the only one
// the object may name.
func matchNamespace(m *meta.ObjectMeta, namespace string) error {
	if m.Namespace == "" || namespace == "" {
		m.Namespace = namespace
	}
	if m.Namespace != namespace {
		return meta.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// MatchNames compares the names in an object with those of the request (upstream:
// endpoints/handlers, checkName).
func (r *Resource) MatchNames(m *meta.ObjectMeta, req Request) error {
	if m.Namespace == "" || r.kind.clusterScoped {
		m.Namespace = req.Namespace
	}
	switch {
	case m.Namespace != req.Namespace:
		return meta.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case m.Name == "":
		return meta.NewBadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", req.Name)
	case m.Name != req.Name:
		return meta.NewBadRequest("the name of the object (%s) does not match the name on the URL (%s)", m.Name, req.Name)
	}
	return nil
}

// dedupOwners drops owner references that stand twice, with a warning. when is
// part of its text.
func (r *Resource) dedupOwners(m *meta.ObjectMeta, req *Request, when string) {
	duplicates := dedupOwnerReferences(m)
	if duplicates == nil {
		return
	}
	req.warn(".metadata.ownerReferences contains duplicate entries" + when +
		"; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " +
		strings.Join(duplicates, ", "))
}

// dedupOwnerReferences removes references that stand there twice and returns
// the uid of each that went.
func dedupOwnerReferences(m *meta.ObjectMeta) (duplicates []string) {
	if len(m.OwnerReferences) < 2 {
		return nil
	}
	type identity struct {
		apiVersion, kind, name string
		uid                    meta.UID
		controller, block      string
	}
	text := func(b *bool) string {
		if b == nil {
			return ""
		}
		return strconv.FormatBool(*b)
	}
	seen := make(map[identity]bool, len(m.OwnerReferences))
	kept := make([]meta.OwnerReference, 0, len(m.OwnerReferences))
	for _, ref := range m.OwnerReferences {
		id := identity{ref.APIVersion, ref.Kind, ref.Name, ref.UID, text(ref.Controller), text(ref.BlockOwnerDeletion)}
		if seen[id] {
			duplicates = append(duplicates, string(ref.UID))
			continue
		}
		seen[id] = true
		kept = append(kept, ref)
	}
	if duplicates != nil {
		m.OwnerReferences = kept
	}
	return duplicates
}
