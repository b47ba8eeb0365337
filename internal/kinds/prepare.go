package kinds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file has the parts of a write that a kind decides (upstream: registry/rest; for the status,
// generations and warnings of custom resources apiextensions-apiserver, registry/customresource).

// memberStatus is the name of the status subresource and of the member it writes.
const memberStatus = "status"

// PrepareNew empties the status if it is a subresource, sets generation 1 on kinds that have generations, and the
// fields that the kind sets. ctx is the context of the write.
func (k *Kind) PrepareNew(ctx context.Context, o Object) {
	if !k.native.KeepStatus && k.separatesStatus(o) {
		k.Type().CopyMember(o, nil, memberStatus)
	}
	if k.HasGenerations() {
		o.GetObjectMeta().Generation = 1
	}
	if k.of.Strategy.Create.Prepare != nil {
		k.of.Strategy.Create.Prepare(ctx, o)
	}
}

// separatesStatus reports whether only the subresource writes the status of an object, which is in the version that versionOf returns.
func (k *Kind) separatesStatus(o Object) bool {
	return k.info.Status && !k.lacks(k.versionOf(o), memberStatus)
}

// HasGenerations reports whether a new object has generation 1.
func (k *Kind) HasGenerations() bool { return !k.info.Native || k.of.Strategy.Update.Counts != nil }

// counts reports whether an update counts a generation.
func (k *Kind) counts(o, old Object) bool {
	if k.of.Strategy.Update.Counts != nil {
		return k.of.Strategy.Update.Counts(o, old)
	}
	return !k.info.Native && !k.Type().EqualBeside(o, old, "metadata")
}

// PrepareSuccessor keeps the status of old if it is a subresource, and counts a
// generation if the kind counts the update.
func (k *Kind) PrepareSuccessor(ctx context.Context, o, old Object) error {
	old, err := k.AsReceived(ctx, k.versionOf(o), old)
	if err != nil {
		return err
	}
	if k.separatesStatus(o) {
		k.Type().CopyMember(o, old, memberStatus)
	}
	if k.of.Strategy.Update.Prepare != nil {
		k.of.Strategy.Update.Prepare(o, old)
	}
	if k.counts(o, old) {
		o.GetObjectMeta().Generation++
	}
	return nil
}

// Holds reports whether a deleted object stays, because of its finalizers or by a rule of the kind.
func (k *Kind) Holds(o Object) bool {
	return len(o.GetObjectMeta().Finalizers) > 0 || k.of.Strategy.Delete.Holds != nil && k.of.Strategy.Delete.Holds(o)
}

// Warnings passes the warnings about a write to warn. old is nil on a create.
func (k *Kind) Warnings(o, old Object, warn func(string)) {
	if !k.info.Native {
		var had []string
		if old != nil {
			had = old.GetObjectMeta().Finalizers
		}
		warnUnqualifiedFinalizers(o.GetObjectMeta().Finalizers, had, warn)
	}
	if k.of.Strategy.Warnings != nil {
		for _, text := range k.of.Strategy.Warnings(o, old) {
			warn(text)
		}
	}
}

// EarlyWarnings passes the warnings about a new object that is not prepared yet to warn.
func (k *Kind) EarlyWarnings(o Object, warn func(string)) {
	if k.native.EarlyWarnings != nil {
		for _, text := range k.native.EarlyWarnings(o) {
			warn(text)
		}
	}
}

// SubresourceWarnings passes the warnings about a write through a subresource to warn.
func (k *Kind) SubresourceWarnings(s *Subresource, o, old Object, warn func(string)) {
	if s.Name == memberStatus && k.native.StatusWarnings != nil {
		for _, text := range k.native.StatusWarnings(o, old) {
			warn(text)
		}
	}
}

// DeleteWarning returns the warning about a deletion with these options, or "".
func (k *Kind) DeleteWarning(o *DeleteOptions) string {
	if k.native.OrphansDependents && o.PropagationPolicy == nil && o.OrphanDependents == nil {
		return k.native.OrphanWarning
	}
	return ""
}

// warnUnqualifiedFinalizers warns about new finalizers without a domain.
func warnUnqualifiedFinalizers(now, had []string, warn func(string)) {
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
		warn(fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name%s to avoid accidental conflicts with other finalizer writers", f, including))
	}
}

// compileManagers describes the kind's versions to package managedfields.
func (k *Kind) compileManagers() {
	k.managers = &managedfields.FieldManager{Name: k.info.Kind, Custom: !k.info.Native}
	for i, v := range k.versions {
		f := k.forms[v.form]
		k.managers.Versions = append(k.managers.Versions, managedfields.Version{
			APIVersion: k.TypeMeta(i).APIVersion, Type: f.typ,
		})
	}
	if slices.ContainsFunc(k.forms, func(f form) bool { return f.convert != nil || f.typ.Rest == nil }) && len(k.forms) > 1 {
		k.managers.Convert = func(o Object, from, to int) (Object, error) {
			if k.native.KeepsVersion {
				*o.GetTypeMeta() = k.TypeMeta(from)
			}
			return k.Convert(context.Background(), o, from, to, kind.Anew) // as upstream, without the context of the request
		}
	}
	if len(k.native.Aliases) > 0 {
		k.managers.Foreign = func(version int) bool { return version >= k.aliasAt() }
	}
	k.managers.Reset = slices.Clip(k.native.Resets)
	if k.info.Status {
		k.whole = new(*k.managers)
		k.managers.Reset = append(k.managers.Reset, memberStatus)
	}
}
