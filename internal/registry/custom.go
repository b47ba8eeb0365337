package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// This file holds what custom resources have and the kinds of this module have
// not: the status subresource, the generation, and warnings of finalizers
// (upstream: apiextensions-apiserver, registry/customresource).

// memberStatus is the member that a status subresource writes, and the name of
// the subresource.
const memberStatus = "status"

// begin makes an object that is about to be created a new one: without a status,
// where that is a subresource, and of the first generation.
func (d *Kind) begin(o Object) {
	if d.status {
		d.forms[0].typ.CopyMember(o, nil, memberStatus)
	}
	if !d.native {
		o.GetObjectMeta().Generation = 1
	}
}

// succeed makes o the successor of old: its status is that of old, where that is
// a subresource, and its generation is another one if the object has changed
// beyond its metadata.
func (d *Kind) succeed(o, old Object) {
	typ := d.forms[0].typ
	if d.status {
		typ.CopyMember(o, old, memberStatus)
	}
	d.prepareForUpdate(o, old)
	if !d.native && !typ.EqualBeside(o, old, "metadata") {
		o.GetObjectMeta().Generation++
	}
}

// onlyStatus returns the current state with the status of o, and with the record
// of who wrote it.
func (d *Kind) onlyStatus(o Object, current *Item) Object {
	out := current.Copy()
	d.forms[0].typ.CopyMember(out, o, memberStatus)
	out.GetObjectMeta().ManagedFields = o.GetObjectMeta().ManagedFields
	return out
}

// warnings sends along what there is to say of a write that is about to be done.
// old is nil for a create.
func (r *Resource) warnings(o, old Object, req *Request) {
	if !r.kind.native {
		var had []string
		if old != nil {
			had = old.GetObjectMeta().Finalizers
		}
		warnOfFinalizers(o.GetObjectMeta().Finalizers, had, req)
	}
	for _, text := range r.kind.warnings(o, old) {
		req.warn(text)
	}
}

// warnOfFinalizers tells of new finalizers that do not say whose they are.
func warnOfFinalizers(now, had []string, req *Request) {
	for _, f := range slices.Compact(slices.Sorted(slices.Values(now))) {
		if strings.Contains(f, "/") || slices.Contains(had, f) {
			continue
		}
		switch f {
		case meta.FinalizerOrphanDependents, meta.FinalizerDeleteDependents, "kubernetes":
			continue
		}
		including := ""
		if strings.Contains(f, ".") {
			including = " including a path (/)"
		}
		req.warn(fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name%s to avoid accidental conflicts with other finalizer writers", f, including))
	}
}
