package kinds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file holds the metadata rules of all kinds (upstream: apimachinery, api/validation). A create is checked by
// the kind's rules for names and finalizers. An update is checked as a create with hardly any name rule, then against
// the old object, then by the kind, so it reports some causes twice, as upstream does.

const metadata = field.Path("metadata")

// maxAnnotations bounds all keys and values together, in bytes.
const maxAnnotations = 256 << 10

// ValidateCreate returns the problems of a new object.
func (k *Kind) ValidateCreate(version int, o Object) field.Errors {
	if errs := k.checkType(o, version); errs != nil {
		return append(errs, k.validateMistyped(k.versions[version].validate, o, nil)...)
	}
	m, content := o.GetObjectMeta(), k.ValidateContent(version, o)
	last := k.of.Strategy.Create.MetadataLast
	if last && len(content) > 0 {
		return content
	}
	errs := append(k.validateOwnMetadata(m), content...)
	if len(errs) == 0 && !last { // all but the names is valid by the rules of all kinds too
		errs = k.validateNames(m, validate.NameIsPathSegment)
	}
	return errs
}

// ValidateContent returns the problems of an object besides its metadata.
func (k *Kind) ValidateContent(version int, o Object) field.Errors {
	return k.versions[version].validate(o, nil)
}

// ValidateUpdate returns the problems of an update. Parts that equal the old ones are valid.
func (k *Kind) ValidateUpdate(version int, o, old Object) field.Errors {
	rules := &k.of.Strategy.Update
	return k.validateUpdate(version, o, old, k.versions[version].validate, rules.MetadataAsNew, rules.LeavesMetadata)
}

// validateUpdate returns the problems of the metadata of an update, of its type, and of the rest of it by validate.
func (k *Kind) validateUpdate(
	version int, o, old Object, validate func(obj, old Object) field.Errors, metadataAsNew int, leavesMetadata bool,
) field.Errors {
	if mistyped := k.checkType(o, version); mistyped != nil {
		errs := append(k.validateUpdatedMetadata(o, old, 0, true), mistyped...)
		return append(errs, k.validateMistyped(validate, o, old)...)
	}
	return append(k.validateUpdatedMetadata(o, old, metadataAsNew, leavesMetadata), validate(o, old)...)
}

// validateMistyped returns the problems of a custom resource of another type beside its type. They are only for the functions of a
// version, which know the types of their objects.
func (k *Kind) validateMistyped(validate func(obj, old Object) field.Errors, o, old Object) field.Errors {
	if !k.of.Strategy.KeepsVersion {
		return nil
	}
	return validate(o, old)
}

// validateUpdatedMetadata applies the rules of all kinds to the metadata of an update, and then those that the kind applies again; see
// kind.UpdateStrategy.
func (k *Kind) validateUpdatedMetadata(o, old Object, asNew int, leaves bool) field.Errors {
	m, oldMeta := o.GetObjectMeta(), old.GetObjectMeta()
	var names, managers, own, again field.Errors
	if m.Name != oldMeta.Name || m.GenerateName != oldMeta.GenerateName || m.Generation < 0 {
		names = k.validateNames(m, validate.NameIsPathSegment)
	}
	if !managedfields.SameOwners(m.ManagedFields, oldMeta.ManagedFields) {
		managers = validateManagedFields(m.ManagedFields)
	}
	shared, finalizers, changes := validateShared(m, oldMeta), validateFinalizers(m.Finalizers), validateMetadataUpdate(m, oldMeta)
	if !leaves {
		own = k.validateOwnFinalizers(m)
	}
	for range asNew {
		again = append(again, k.validateOwnMetadata(m)...)
	}
	if len(names)+len(managers)+len(shared)+len(finalizers)+len(changes)+len(own)+len(again) == 0 {
		return nil // nearly always; the rest is code that a write would read for nothing
	}
	update := slices.Concat(changes, shared, managers)
	errs := slices.Concat(names, shared, finalizers, managers, update)
	if !leaves {
		errs = slices.Concat(errs, update, own)
	}
	return append(errs, again...)
}

func (k *Kind) validateOwnMetadata(m *meta.ObjectMeta) field.Errors {
	return append(k.validateMetadata(m, k.of.Strategy.ValidateName), k.validateOwnFinalizers(m)...)
}

// validateOwnFinalizers validates finalizers by the rule of the kind. Unlike the rule of
// all kinds, it reports the index.
func (k *Kind) validateOwnFinalizers(m *meta.ObjectMeta) (errs field.Errors) {
	if k.of.Strategy.ValidateFinalizer == nil {
		return nil
	}
	for i, f := range m.Finalizers {
		if problems := k.of.Strategy.ValidateFinalizer(f); problems != nil {
			errs = append(errs, field.InvalidEach((metadata+".finalizers").Index(i), f, problems)...)
		}
	}
	return errs
}

func (k *Kind) validateMetadata(m *meta.ObjectMeta, name func(string, bool) []string) field.Errors {
	errs := k.validateNames(m, name)
	errs = append(errs, validateShared(m, nil)...)
	errs = append(errs, validateFinalizers(m.Finalizers)...)
	return append(errs, validateManagedFields(m.ManagedFields)...)
}

func (k *Kind) validateNames(m *meta.ObjectMeta, name func(string, bool) []string) (errs field.Errors) {
	check := func(member, value string, problems []string) {
		if problems != nil {
			errs = append(errs, field.InvalidEach(metadata.Child(member), value, problems)...)
		}
	}
	if m.GenerateName != "" {
		check("generateName", m.GenerateName, name(m.GenerateName, true))
	}
	if m.Name == "" {
		errs = append(errs, field.Required(metadata+".name", "name or generateName is required"))
	} else {
		check("name", m.Name, name(m.Name, false))
	}
	switch {
	case k.info.ClusterScoped && m.Namespace != "":
		errs = append(errs, field.Forbidden(metadata+".namespace", "not allowed on this type"))
	case k.info.ClusterScoped:
	case m.Namespace == "":
		errs = append(errs, field.Required(metadata+".namespace", ""))
	default:
		check("namespace", m.Namespace, validate.NameIsDNSLabel(m.Namespace, false))
	}
	return append(errs, validateGeneration(m)...)
}

// validateMetadataUpdate compares the metadata of an update with the old one. matchNamespace has compared the namespaces.
func validateMetadataUpdate(m, old *meta.ObjectMeta) (errs field.Errors) {
	if old.DeletionTimestamp != nil {
		errs = append(errs, validateNoNewFinalizers(m.Finalizers, old.Finalizers)...)
	}
	errs = append(errs, validateGeneration(m)...)
	immutable := func(name string, same bool, value func() any) {
		if !same {
			errs = append(errs, field.Invalid(metadata.Child(name), value(), "field is immutable"))
		}
	}
	immutable("name", m.Name == old.Name, func() any { return m.Name })
	immutable("uid", m.UID == old.UID, func() any { return m.UID })
	immutable("creationTimestamp", m.CreationTimestamp.Equal(&old.CreationTimestamp), func() any { return m.CreationTimestamp })
	immutable("deletionTimestamp", m.DeletionTimestamp.Equal(old.DeletionTimestamp), func() any { return m.DeletionTimestamp })
	grace, oldGrace := m.DeletionGracePeriodSeconds, old.DeletionGracePeriodSeconds
	immutable("deletionGracePeriodSeconds", (grace == nil) == (oldGrace == nil) && (grace == nil || *grace == *oldGrace),
		func() any { return grace })
	return errs
}

func validateGeneration(m *meta.ObjectMeta) field.Errors {
	if m.Generation >= 0 {
		return nil
	}
	return field.Errors{field.Invalid(metadata+".generation", m.Generation, "must be greater than or equal to 0")}
}

// maxProblems is how many problems a list or map may have before the rest of it is not looked at.
// A body could have a million. A Status shows 1 MiB of text, which is fewer.
const maxProblems = 40_000

// problemsIn returns the problems of the items of a list, and ends after maxProblems.
func problemsIn[T any](items []T, of func(i int, item T) field.Errors) (errs field.Errors) {
	for i, item := range items {
		if len(errs) >= maxProblems {
			break
		}
		errs = append(errs, of(i, item)...)
	}
	return errs
}

// validateShared validates labels, annotations and owner references. Maps are walked in order, so that the same
// object always gets the same answer. A map that equals the old one is valid; old may be nil.
func validateShared(m, old *meta.ObjectMeta) (errs field.Errors) {
	if old == nil || !codec.EqualEntries(m.Labels, old.Labels) {
		for k, v := range m.Labels {
			if validate.QualifiedName(k) != nil || validate.LabelValue(v) != nil {
				errs = labelErrors(m.Labels)
				break
			}
		}
	}
	if old == nil || !codec.EqualEntries(m.Annotations, old.Annotations) {
		errs = append(errs, validateAnnotations(m.Annotations)...)
	}
	return append(errs, validateOwnerReferences(m.OwnerReferences)...)
}

func labelErrors(labels map[string]string) field.Errors {
	const path = metadata + ".labels"
	return problemsIn(slices.Sorted(maps.Keys(labels)), func(_ int, k string) field.Errors {
		return append(field.InvalidEach(path, k, validate.QualifiedName(k)), field.InvalidEach(path, labels[k], validate.LabelValue(labels[k]))...)
	})
}

func validateAnnotations(annotations map[string]string) (errs field.Errors) {
	const path = metadata + ".annotations"
	size, bad := 0, false
	for k, v := range annotations {
		size += len(k) + len(v)
		// Annotation keys may have upper case.
		bad = bad || validate.QualifiedName(strings.ToLower(k)) != nil
	}
	if bad {
		errs = problemsIn(slices.Sorted(maps.Keys(annotations)), func(_ int, k string) field.Errors {
			return field.InvalidEach(path, k, validate.QualifiedName(strings.ToLower(k)))
		})
	}
	if size > maxAnnotations {
		errs = append(errs, field.TooLong(path, maxAnnotations))
	}
	return errs
}

func validateOwnerReferences(refs []meta.OwnerReference) field.Errors {
	const path = metadata + ".ownerReferences"
	controller := ""
	return problemsIn(refs, func(i int, ref meta.OwnerReference) field.Errors {
		errs := validateOwnerReference(path, i, ref)
		if ref.Controller == nil || !*ref.Controller {
			return errs
		}
		if name := ref.Kind + "/" + ref.Name; controller == "" {
			controller = name
		} else {
			errs = append(errs, field.Invalid(path, refs,
				fmt.Sprintf("Only one reference can have Controller set to true. Found \"true\" in references for %v and %v", controller, name)))
		}
		return errs
	})
}

func validateOwnerReference(path field.Path, i int, ref meta.OwnerReference) (errs field.Errors) {
	gv, ok := meta.ParseGroupVersion(ref.APIVersion)
	if ref.APIVersion != "" && (!ok || gv.Version == "") {
		errs = append(errs, field.Invalid(path.Index(i)+".apiVersion", ref.APIVersion, "must be <group>/<version> or <version>"))
	}
	for _, member := range []struct {
		name  string
		empty bool
	}{
		{"apiVersion", ref.APIVersion == ""},
		{"kind", ref.Kind == ""},
		{"name", ref.Name == ""},
		{"uid", ref.UID == ""},
	} {
		if member.empty {
			errs = append(errs, field.Required(path.Index(i).Child(member.name), "must not be empty"))
		}
	}
	if ref.APIVersion == "v1" && ref.Kind == "Event" {
		errs = append(errs, field.Invalid(path.Index(i), ref, "/v1, Kind=Event is disallowed from being an owner"))
	}
	return errs
}

func validateFinalizers(finalizers []string) field.Errors {
	const path = metadata + ".finalizers"
	errs := problemsIn(finalizers, func(_ int, f string) field.Errors {
		return field.InvalidEach(path, f, validate.QualifiedName(f))
	})
	if slices.Contains(finalizers, meta.FinalizerOrphanDependents) && slices.Contains(finalizers, meta.FinalizerDeleteDependents) {
		errs = append(errs, field.Invalid(path, finalizers, fmt.Sprintf("finalizer %s and %s cannot be both set",
			meta.FinalizerOrphanDependents, meta.FinalizerDeleteDependents)))
	}
	return errs
}

func validateNoNewFinalizers(now, old []string) field.Errors {
	known := make(map[string]bool, len(old))
	for _, f := range old {
		known[f] = true
	}
	var added []string
	for _, f := range now {
		if !known[f] {
			known[f] = true
			added = append(added, f)
		}
	}
	if added == nil {
		return nil
	}
	slices.Sort(added)
	return field.Errors{field.Forbidden(metadata+".finalizers",
		fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", added))}
}

// validateManagedFields validates the names in managedFields. Package managedfields has
// encoded them, so the rest is valid.
func validateManagedFields(entries []meta.ManagedFieldsEntry) field.Errors {
	return problemsIn(entries, func(i int, e meta.ManagedFieldsEntry) (errs field.Errors) {
		path := func(member string) field.Path { return (metadata + ".managedFields").Index(i).Child(member) }
		for _, problem := range checkFieldManager("", e.Manager) {
			problem.Field = path("manager")
			errs = append(errs, problem)
		}
		if len(e.Subresource) > maxSubresource {
			errs = append(errs, field.TooLong(path("subresource"), maxSubresource))
		}
		return errs
	})
}

const maxSubresource = 256
