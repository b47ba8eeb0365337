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
// the kind's rule for names. An update is checked as a create with hardly any name rule, then against the old object, then by the kind.
// A problem that this finds twice is reported once.

const metadata = field.Path("metadata")

// maxAnnotations bounds all keys and values together, in bytes.
const maxAnnotations = 256 << 10

// ValidatesSlowly reports whether the validation of a write may take long. A subresource with rules of its own does not: the controller
// that writes the status of all definitions must not wait for their validation.
func (k *Kind) ValidatesSlowly(version int, s *Subresource) bool {
	own := s != nil && (s.Validate != nil || s.Name == memberStatus && k.of.Versions[version].ValidateStatus != nil)
	return k.native.SlowValidation && !own
}

// checkType returns the problems of a custom resource whose type is not the one of the kind in a version. It is not for objects of Native
// kinds (upstream: apiextensions-apiserver, registry/customresource, ValidateTypeMeta).
func (k *Kind) checkType(o Object, version int) (errs field.Errors) {
	have, want := *o.GetTypeMeta(), k.TypeMeta(version)
	if have == want || have == (meta.TypeMeta{}) {
		return nil
	}
	if have.Kind != want.Kind {
		errs = append(errs, field.Invalid("kind", have.Kind, "must be "+want.Kind))
	}
	if have.APIVersion != want.APIVersion {
		errs = append(errs, field.Invalid("apiVersion", have.APIVersion, "must be "+want.APIVersion))
	}
	return errs
}

// IsMistyped reports whether a custom resource names another type than the kind has in a version.
func (k *Kind) IsMistyped(o Object, version int) bool {
	return !k.info.Native && k.checkType(o, version) != nil
}

// ErrorKind returns the kind that an error about an invalid object names: for a custom resource the one that the object names.
func (k *Kind) ErrorKind(o Object) meta.GroupKind {
	named := *o.GetTypeMeta()
	if k.info.Native || named == (meta.TypeMeta{}) {
		return k.GroupKind()
	}
	gv, _ := meta.ParseGroupVersion(named.APIVersion)
	return meta.GroupKind{Group: gv.Group, Kind: named.Kind}
}

// ValidateCreate returns the problems of a new object.
func (k *Kind) ValidateCreate(version int, o Object) field.Errors {
	if k.IsMistyped(o, version) {
		return append(k.checkType(o, version), k.validateMistyped(k.versions[version].validate, o, nil)...)
	}
	m, content := o.GetObjectMeta(), k.ValidateContent(version, o)
	last := k.native.MetadataLast
	if last && len(content) > 0 {
		return content
	}
	errs := k.distinct(append(distinct(k.validateMetadata(m, k.of.Strategy.ValidateName)), content...))
	if len(errs) == 0 && !last { // all but the names is valid by the rules of all kinds too
		errs = k.validateNames(m, validate.NameIsPathSegment)
	}
	return errs
}

// ValidateContent returns the problems of an object besides its metadata.
func (k *Kind) ValidateContent(version int, o Object) field.Errors {
	return k.versions[version].validate(o, nil)
}

// ValidateUpdate returns the problems of an update, of its metadata, its type, and the rest. Parts that equal the old ones are valid. s is
// the subresource that the update goes through, with a body of the parent's kind, or nil.
func (k *Kind) ValidateUpdate(version int, s *Subresource, o, old Object) field.Errors {
	validate := k.versions[version].validate
	if s != nil {
		validate = k.validateWith(s, version)
	}
	if k.IsMistyped(o, version) {
		errs := append(k.validateUpdatedMetadata(o, old, true), k.checkType(o, version)...)
		return append(errs, k.validateMistyped(validate, o, old)...)
	}
	return k.distinct(append(k.validateUpdatedMetadata(o, old, false), validate(o, old)...))
}

// repeats reports whether a problem stands as often as upstream finds it. The strategies of the other kinds validate declaratively, and
// what merges both lists drops equal problems (upstream: apiserver, registry/rest/validate.go; apimachinery, field.ErrorList.Filter).
func (k *Kind) repeats() bool { return !k.info.Native || k.native.Repeats }

func (k *Kind) distinct(errs field.Errors) field.Errors {
	if len(errs) < 2 || k.repeats() {
		return errs
	}
	return distinct(errs)
}

// distinct drops the problems that have the text of an earlier one, in the part of the list that a Status can show.
func distinct(errs field.Errors) field.Errors {
	if len(errs) < 2 {
		return errs
	}
	size, seen := 0, map[string]bool{}
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		if size > maxDistinct {
			return false
		}
		text := e.Error()
		again := seen[text]
		size, seen[text] = size+len(text), true
		return again
	})
}

// maxDistinct bounds the bytes of texts that are compared, since each may show the whole value.
const maxDistinct = 2 << 20

// validateMistyped returns the problems of a custom resource of another type beside its type. They are only for the functions of a
// version, which know the types of their objects.
func (k *Kind) validateMistyped(validate func(obj, old Object) field.Errors, o, old Object) field.Errors {
	if !k.native.KeepsVersion {
		return nil
	}
	return validate(o, old)
}

// validateUpdatedMetadata applies the rules of all kinds to the metadata of an update, those of an update a second time if the kind
// repeats them and the object has its type.
func (k *Kind) validateUpdatedMetadata(o, old Object, mistyped bool) field.Errors {
	m, oldMeta := o.GetObjectMeta(), old.GetObjectMeta()
	var names, managers, finalizers field.Errors
	if m.Name != oldMeta.Name || m.GenerateName != oldMeta.GenerateName || m.Generation < 0 {
		names = k.validateNames(m, validate.NameIsPathSegment)
	}
	if !managedfields.SameOwners(m.ManagedFields, oldMeta.ManagedFields) {
		managers = validateManagedFields(m.ManagedFields)
	}
	if len(m.Finalizers) > 0 {
		finalizers = validateFinalizers(m.Finalizers)
	}
	shared, changes := validateShared(m, oldMeta), validateMetadataUpdate(m, oldMeta)
	if len(names)+len(managers)+len(shared)+len(finalizers)+len(changes) == 0 {
		return nil // nearly always; the rest is code that a write would read for nothing
	}
	update := slices.Concat(changes, shared, managers)
	errs := slices.Concat(names, shared, finalizers, managers, update)
	if !mistyped && k.repeats() {
		errs = append(errs, distinct(update)...)
	}
	return errs
}

// WithMalformed adds a problem of the metadata as a whole to the other problems of an object. A create has no others of the metadata then; an
// update has them first, since they are found member by member (upstream: apiserver, registry/rest, BeforeUpdate; apiextensions-apiserver,
// registry/customresource, getObjectMeta).
func WithMalformed(errs field.Errors, problem *field.Error, creates bool) field.Errors {
	rest := slices.IndexFunc(errs, func(e *field.Error) bool { return !strings.HasPrefix(string(e.Field), string(metadata)+".") })
	if rest < 0 {
		rest = len(errs)
	}
	own := distinct(errs[:rest:rest])
	if creates {
		own = nil
	}
	return slices.Concat(own, field.Errors{problem}, errs[rest:])
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
	if m.Generation < 0 {
		errs = append(errs, negativeGeneration(m))
	}
	return errs
}

// validateMetadataUpdate compares the metadata of an update with the old one. matchNamespace has compared the namespaces.
func validateMetadataUpdate(m, old *meta.ObjectMeta) (errs field.Errors) {
	if old.DeletionTimestamp != nil {
		errs = append(errs, validateNoNewFinalizers(m.Finalizers, old.Finalizers)...)
	}
	if m.Generation < 0 {
		errs = append(errs, negativeGeneration(m))
	}
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

func negativeGeneration(m *meta.ObjectMeta) *field.Error {
	return field.Invalid(metadata+".generation", m.Generation, "must be greater than or equal to 0")
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
	if len(m.OwnerReferences) > 0 {
		errs = append(errs, validateOwnerReferences(m.OwnerReferences)...)
	}
	return errs
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
