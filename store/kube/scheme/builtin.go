package scheme

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kube/scheme/internal/printers"
	"github.com/kubecoord/kubecoord/store/kube/scheme/internal/validation"
	"github.com/kubecoord/kubecoord/store/meta"
)

// builtin returns the kind of a resource.
func (b *builder) builtin(r served) (*kinds.Kind, error) {
	gvk := schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind}
	t, v, err := b.version(gvk)
	if err != nil {
		return nil, err
	}
	t.managed = r.answers
	v.Validate, v.ValidateStatus = t.validate(""), t.validate("status")
	d := kinds.Descriptor{
		Group: r.group, Name: r.kind, Plural: r.plural, StoragePrefix: r.prefix,
		ShortNames: r.short, Categories: r.categories, New: newObject, Versions: []kinds.Version{v},
		ClusterScoped: r.cluster, Status: r.status, StatusOnCreate: r.keepsStatus, Resets: r.resets, Holds: r.holds,
		Native: true, CreateOnUpdate: r.creates, UnconditionalUpdate: !r.needsVersion,
		ValidateName: r.name, ValidateMetadataOnUpdate: r.metadataAgain, Default: b.defaulter(t), Verbs: r.verbs, SelectableFields: r.fields, FieldRefusal: r.refusal,
	}
	if !strings.HasPrefix(r.group, "admissionregistration.") {
		d.ValidateFinalizer = validateFinalizer
	}
	b.prepare(&d, r, t)
	table(&d, t)
	setDeletion(&d)
	if r.answers {
		d.Answer = t.answer(r.fresh)
	}
	if r.counts != nil {
		d.Counts = counter(r.counts)
	}
	for _, older := range r.also {
		other, err := b.older(gvk.GroupKind(), older, t)
		if err != nil {
			return nil, err
		}
		other.Validate, other.ValidateStatus = v.Validate, v.ValidateStatus
		d.Versions = append(d.Versions, other)
	}
	for _, other := range resources() {
		if other.alias && r.group == "" && other.kind == r.kind {
			a, err := b.alias(other, t)
			if err != nil {
				return nil, err
			}
			d.Aliases = append(d.Aliases, a)
		}
	}
	if r.subresources != nil {
		if d.Subresources, err = r.subresources(b); err != nil {
			return nil, fmt.Errorf("kind %s: %w", r.kind, err)
		}
	}
	for i := range d.Subresources {
		if s := &d.Subresources[i]; s.Body == nil && s.Validate == nil {
			s.Validate = t.validate(s.Name)
		}
	}
	if r.status && !r.ownStatus {
		d.Subresources = append(d.Subresources, t.statusSubresource(r))
	}
	return kinds.NewKind(d)
}

// version returns the Go type of a kind and its version for a descriptor.
func (b *builder) version(gvk schema.GroupVersionKind) (*objectType, kinds.Version, error) {
	goType := clientscheme.Scheme.AllKnownTypes()[gvk]
	if goType == nil {
		return nil, kinds.Version{}, fmt.Errorf("kind %s: client-go has no type for it", gvk)
	}
	s, err := b.schemaOf(goType)
	if err != nil {
		return nil, kinds.Version{}, fmt.Errorf("kind %s: %w", gvk, err)
	}
	t := newObjectType(gvk, goType)
	return t, kinds.Version{Name: gvk.Version, Schema: s, Serializer: t}, nil
}

// validate returns the validation of a write by way of a subresource, "" for the object itself. The metadata is not its part.
func (t *objectType) validate(subresource string) func(o, old kinds.Object) field.Errors {
	return func(o, old kinds.Object) (errs field.Errors) {
		obj, err := t.typed(o)
		if err != nil {
			return field.Errors{field.Invalid("", nil, err.Error())}
		}
		for _, e := range validation.ValidateSubresource(subresource, obj, t.typedOrNil(old)) {
			if e.Field == "spec.healthCheckNodePort" && e.Type == upstream.ErrorTypeRequired {
				continue // a kube-apiserver allocates it before it validates
			}
			errs = append(errs, field.Reported(field.ErrorType(e.Type), field.Path(e.Field), e.ErrorBody()))
		}
		return errs
	}
}

// defaulter returns the function that brings an object into the form that a kube-apiserver decodes: with defaults, and with the
// members that its JSON always has.
func (b *builder) defaulter(t *objectType) func(kinds.Object) {
	return func(o kinds.Object) { t.change(o, b.defaults.Default) }
}

// prepare sets the functions that change an object before a write. A kube-apiserver sets defaults whenever it decodes an object,
// also one from its storage, so that a default may follow from what the strategy has set: a Job has the labels of its template.
func (b *builder) prepare(d *kinds.Descriptor, r served, t *objectType) {
	_, hasStatus := t.goType.FieldByName("Status")
	stored := storageOf(d.Versions[0].Schema)
	d.PrepareForCreate = func(ctx context.Context, o kinds.Object) {
		if r.create != nil {
			t.change(o, func(obj runtime.Object) {
				r.create(ctx, obj)
				b.defaults.Default(obj)
			})
		}
		if hasStatus {
			t.complete(o, "status")
		}
		stored.apply(o)
	}
	if r.terminate != nil {
		d.PrepareForDelete = func(o kinds.Object, _ time.Time) { t.change(o, r.terminate) }
	}
	d.PrepareForUpdate = func(o, old kinds.Object) {
		if r.update != nil {
			if before := t.typedOrNil(old); before != nil {
				t.change(o, func(obj runtime.Object) {
					r.update(obj, before)
					b.defaults.Default(obj)
				})
			}
		}
		stored.apply(o)
	}
}

// table sets the columns and the functions of rows.
func table(d *kinds.Descriptor, t *objectType) {
	for _, c := range printers.Columns(t.gvk) {
		d.Columns = append(d.Columns, kinds.Column{ColumnInfo: kinds.ColumnInfo{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority,
		}})
	}
	d.Cells = func(o kinds.Object, now time.Time) []any {
		obj, err := t.typed(o)
		if err != nil {
			return make([]any, len(printers.Columns(t.gvk)))
		}
		return printers.Cells(obj, now)
	}
	if t.gvk.Kind != "Pod" {
		return
	}
	d.RowConditions = func(o kinds.Object) (out []any) {
		obj, err := t.typed(o)
		if err != nil {
			return nil
		}
		for _, c := range printers.Conditions(obj) {
			out = append(out, c)
		}
		return out
	}
}

// validateFinalizer is the rule of nearly all groups: a finalizer must have a domain, except for three that are older than the
// rule (upstream: apis/core/validation, validateKubeFinalizerName).
func validateFinalizer(finalizer string) []string {
	standard := []string{string(corev1.FinalizerKubernetes), meta.FinalizerOrphanDependents, meta.FinalizerDeleteDependents}
	if strings.Contains(finalizer, "/") || slices.Contains(standard, finalizer) {
		return nil
	}
	return []string{"name is neither a standard finalizer name nor is it fully qualified"}
}
