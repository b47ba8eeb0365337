package scheme

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/boxes"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/gated"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/printers"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/warnings"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// builtin returns the kind of a resource.
func (b *builder) builtin(r served) (kind.Kind, error) {
	gvk := schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind}
	t, v, err := b.version(gvk)
	if err != nil {
		return nil, err
	}
	v.Deprecated, v.Native = r.deprecated, &kind.NativeVersion{Lacks: r.lacks}
	v.Validate, v.ValidateStatus = b.validator(r, ""), b.validator(r, "status")
	d := kind.Descriptor[meta.Object]{
		Resource: kind.Resource{
			Group: r.group, Kind: r.kind, Plural: r.plural, ShortNames: r.short, Categories: r.categories,
			ClusterScoped: r.cluster, Status: r.status, Verbs: r.verbs,
		},
		Versions: []kind.Version[meta.Object]{v},
		Strategy: kind.Strategy[meta.Object]{
			ValidateName: r.name, Default: b.setDefaults, Warnings: warner(warnings.OfWrite),
			Update: kind.UpdateStrategy[meta.Object]{CreateMissing: r.creates, Unconditional: !r.needsVersion},
			Delete: kind.DeleteStrategy[meta.Object]{Holds: r.holds},
		},
		SelectableFields: r.fields,
		Native: &kind.Native[meta.Object]{
			StoragePrefix:  cmp.Or(r.prefix, r.plural),
			FieldRefusal:   r.refusal,
			EarlyWarnings:  r.earlyWarnings,
			StatusWarnings: warner(warnings.OfStatus),
			KeepStatus:     r.keepsStatus,
			MetadataLast:   r.kind == "Event" || r.kind == "PodDisruptionBudget", // upstream: their validation leaves it out
			Resets:         r.resets,
			Through:        r.through,
			Repeats:        gvk == apiServiceKind(),
			SlowValidation: strings.HasPrefix(r.group, "admissionregistration.") || r.group == "resource.k8s.io", // their expressions are compiled
		},
	}
	if r.kind == "DaemonSet" {
		d.Native.FieldAnnotations = []string{appsv1.DeprecatedTemplateGeneration}
	}
	if r.defaults != nil {
		d.Strategy.Default = func(o meta.Object) { r.defaults(valueOf(o)) }
	}
	b.prepare(&d, r, t)
	table(&d, t)
	setDeletion(&d)
	if r.answers {
		d.Native.Answer = answer(r.fresh)
	}
	if r.objects != nil {
		d.Native.Objects = func() (out []meta.Object) {
			for _, o := range r.objects() {
				made := t.new()
				reflect.ValueOf(valueOf(made)).Elem().Set(reflect.ValueOf(o).Elem())
				out = append(out, made)
			}
			return out
		}
	}
	if r.counts != nil && (r.kind != "HorizontalPodAutoscaler" || b.gates.Enabled("HPAGeneration")) {
		d.Strategy.Update.Counts = t.counter(r.counts)
	}
	for _, older := range r.also {
		other, err := b.older(gvk.GroupKind(), older, t)
		if err != nil {
			return nil, err
		}
		other.Validate, other.ValidateStatus = v.Validate, v.ValidateStatus
		d.Versions = append(d.Versions, other)
	}
	for _, name := range r.off {
		if !b.on(r.in(name)) {
			continue
		}
		other, err := b.offVersion(gvk.GroupKind(), name, t)
		if err != nil {
			return nil, err
		}
		other.Validate, other.ValidateStatus, other.Native = v.Validate, v.ValidateStatus, v.Native
		d.Versions = append(d.Versions, other)
	}
	for _, other := range resources() {
		if other.alias && r.group == "" && other.kind == r.kind {
			a, err := b.alias(other, t)
			if err != nil {
				return nil, err
			}
			d.Native.Aliases = append(d.Native.Aliases, a)
		}
	}
	if r.subresources != nil {
		if d.Subresources, err = r.subresources(b); err != nil {
			return nil, fmt.Errorf("kind %s: %w", r.kind, err)
		}
	}
	for i := range d.Subresources {
		if s := &d.Subresources[i]; s.Body == nil && s.Validate == nil {
			s.Validate = b.validator(r, s.Name)
		}
	}
	switch {
	case r.group == "flowcontrol.apiserver.k8s.io":
		d.Subresources = append(d.Subresources, t.identicalStatus())
	case r.status && (!r.ownStatus || r.statusUpdate != nil || r.kind == "CSINode"):
		d.Subresources = append(d.Subresources, t.statusSubresource(r, gated.Statuses(r.kind, t.goType, b.gates)))
	}
	return store.Compile(d)
}

// version returns the Go type of a kind and its version for a descriptor.
func (b *builder) version(gvk schema.GroupVersionKind) (*objectType, kind.Version[meta.Object], error) {
	goType := clientscheme.Scheme.AllKnownTypes()[gvk]
	if gvk == apiServiceKind() {
		goType = reflect.TypeFor[apiregistrationv1.APIService]()
	}
	if goType == nil {
		return nil, kind.Version[meta.Object]{}, fmt.Errorf("kind %s: client-go has no type for it", gvk)
	}
	s, err := b.schemaOf(goType)
	if err != nil {
		return nil, kind.Version[meta.Object]{}, fmt.Errorf("kind %s: %w", gvk, err)
	}
	typ, err := b.library.Compile(goType, s)
	if err != nil {
		return nil, kind.Version[meta.Object]{}, fmt.Errorf("kind %s: %w", gvk, err)
	}
	return &objectType{gvk, goType, typ}, kind.Version[meta.Object]{Name: gvk.Version, Schema: s, Type: typ}, nil
}

// validator returns the validation of a write by way of a subresource, "" for the object itself. Of the metadata only the finalizers are
// its part.
func (b *builder) validator(r served, subresource string) func(o, old meta.Object) field.Errors {
	checks := checksFinalizers(r, subresource)
	return func(o, old meta.Object) (errs field.Errors) {
		if checks {
			errs = validateFinalizers(o.GetObjectMeta().Finalizers)
		}
		found := slices.DeleteFunc(b.rules.Validate(subresource, valueOf(o), valueOrNil(old)), func(e *upstream.Error) bool {
			return e.Field == "spec.healthCheckNodePort" && e.Type == upstream.ErrorTypeRequired // a kube-apiserver allocates it before it validates
		})
		return append(errs, boxes.Problems(found)...)
	}
}

// warner returns a function of warnings for stored objects.
func warner(of func(obj, old runtime.Object) []string) func(o, old meta.Object) []string {
	return func(o, old meta.Object) []string { return of(valueOf(o), valueOrNil(old)) }
}

// setDefaults brings an object into the form that a kube-apiserver decodes.
func (b *builder) setDefaults(o meta.Object) { b.defaults.Default(valueOf(o)) }

// prepare sets the functions that change an object before a write. A kube-apiserver sets defaults whenever it decodes an object,
// also one from its storage, so that a default may follow from what the strategy has set: a Job has the labels of its template.
func (b *builder) prepare(d *kind.Descriptor[meta.Object], r served, t *objectType) {
	drops, pods := gated.Of(r.kind, t.goType, b.gates), podMetadata(r.kind)
	if r.create != nil || drops != nil {
		d.Strategy.Create.Prepare = func(ctx context.Context, o meta.Object) {
			drops.Drop(valueOf(o), nil)
			pods.dropInitAnnotations(valueOf(o))
			if r.create != nil {
				r.create(ctx, valueOf(o))
				b.setDefaults(o)
				drops.Drop(valueOf(o), nil) // a default may be of a gate
			}
		}
	}
	if r.terminate != nil {
		d.Strategy.Delete.Prepare = func(o meta.Object, _ time.Time) { r.terminate(valueOf(o)) }
	}
	if r.update != nil || drops != nil {
		d.Strategy.Update.Prepare = func(o, old meta.Object) {
			drops.Drop(valueOf(o), valueOf(old))
			pods.dropInitAnnotations(valueOf(o))
			if r.update != nil {
				r.update(valueOf(o), t.copyOf(old)) // which obj may share from now on
				b.setDefaults(o)
			}
		}
	}
}

// table sets the columns and the functions of rows.
func table(d *kind.Descriptor[meta.Object], t *objectType) {
	for _, c := range printers.Columns(t.gvk) {
		d.Table.Columns = append(d.Table.Columns, kind.Column[meta.Object]{Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority})
	}
	d.Native.NoTableOf, d.Native.NullRows = tableless()[t.gvk.Kind], t.gvk.Kind == "LimitRange"
	d.Table.Cells = func(o meta.Object, now time.Time) []any { return printers.Cells(valueOf(o), now) }
	if t.gvk.Kind == "StorageClass" {
		d.Native.DefaultRow = func(o, other meta.Object) bool {
			var had *storagev1.StorageClass
			if other != nil {
				had = value[storagev1.StorageClass](other)
			}
			return printers.DefaultClass(value[storagev1.StorageClass](o), had)
		}
	}
	if t.gvk.Kind != "Pod" {
		return
	}
	d.Table.Conditions = func(o meta.Object) (out []any) {
		for _, c := range printers.Conditions(valueOf(o)) {
			out = append(out, c)
		}
		return out
	}
}

// tableless returns the subresources without a Table, by kind (upstream: the storages that have no ConvertToTable).
func tableless() map[string][]string {
	return map[string][]string{
		"APIService": {"status"}, "CertificateSigningRequest": {"approval"}, "Namespace": {"finalize"},
		"Pod": {"ephemeralcontainers", "resize"}, "ResourceClaim": {"status"},
	}
}
