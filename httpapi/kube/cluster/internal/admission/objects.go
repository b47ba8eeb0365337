package admission

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Objects have the form that a real server passes to its plugins: built-in kinds have their Go types, which decide what a
// patch of a webhook may do, and all others are unstructured.

// newObject returns an empty object of a type.
func newObject(gvk schema.GroupVersionKind) (runtime.Object, error) {
	o, err := clientscheme.Scheme.New(gvk)
	if err == nil {
		o.GetObjectKind().SetGroupVersionKind(gvk)
	}
	return o, err
}

// empty returns an empty object of a version of a kind.
func empty(k kind.Kind, version int) runtime.Object {
	gvk := kindOf(k, version)
	if o, ok := kind.Value(k.New(version)).(runtime.Object); ok {
		o.GetObjectKind().SetGroupVersionKind(gvk)
		return o
	}
	if k.Info().Native { // Leases, LeaseCandidates and Endpoints, which are kept in types of this project
		if o, err := newObject(gvk); err == nil {
			return o
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// wire returns a stored object in a version, or nil for nil.
func wire(ctx context.Context, k kind.Kind, version int, o meta.Object) (runtime.Object, error) {
	if o == nil {
		return nil, nil
	}
	o, err := k.Wire(ctx, o, version)
	if err != nil {
		return nil, err
	}
	if v, ok := kind.Value(o).(runtime.Object); ok {
		return v, nil
	}
	out := empty(k, version)
	return out, fill(out, k.Tree(o, version))
}

// fill makes a tree the content of an object.
func fill(o runtime.Object, doc map[string]any) error {
	if u, ok := o.(*unstructured.Unstructured); ok {
		u.Object = doc
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(doc, o)
}

// fillWith makes an object in the form of a write the content of an object in a version.
func fillWith(ctx context.Context, out runtime.Object, k kind.Kind, version int, o meta.Object) error {
	v, err := wire(ctx, k, version, o)
	if err == nil {
		reflect.ValueOf(out).Elem().Set(reflect.ValueOf(v).Elem())
	}
	return err
}

// tree returns an object as a tree, which may share memory with it.
func tree(o runtime.Object) (map[string]any, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return maps.Clone(u.Object), nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(o)
}

// stored returns an object in the form that a write has: with defaults, and without members that are unknown to its kind.
func stored(ctx context.Context, k kind.Kind, version int, o runtime.Object) (meta.Object, error) {
	if _, isOwn := kind.Value(k.New(version)).(runtime.Object); isOwn {
		if m, err := apimeta.Accessor(o); err == nil && len(m.GetManagedFields()) == 0 {
			m.SetManagedFields(nil) // an empty list resets them in a request, and is none after a plugin
		}
		return k.Received(ctx, k.Object(o, version), version)
	}
	doc, err := tree(o)
	if err != nil {
		return nil, err
	}
	out, _, err := k.FromTree(doc, version)
	if err != nil {
		return nil, err
	}
	return k.Received(ctx, out, version)
}

// wellFormed returns a custom resource without the members of the metadata that have a wrong type, and what it had, or nil. The server reads
// the metadata member by member until it validates the object. Without metadata a Malformed has none.
func wellFormed(o *unstructured.Unstructured) (*unstructured.Unstructured, *writes.Malformed, error) {
	doc := maps.Clone(o.Object)
	had, ok := doc["metadata"].(map[string]any)
	if !ok {
		doc["metadata"] = map[string]any{}
		return &unstructured.Unstructured{Object: doc}, &writes.Malformed{}, nil
	}
	m, _, err := objectmeta.GetObjectMeta(doc, true)
	if err != nil {
		return nil, nil, err
	}
	var bad *writes.Malformed
	if checkMetadata(had) != nil {
		bad = &writes.Malformed{Metadata: had, Check: checkMetadata}
		m.OwnerReferences = o.GetOwnerReferences() // which are read one by one
	}
	return &unstructured.Unstructured{Object: doc}, bad, objectmeta.SetObjectMeta(doc, m)
}

func checkMetadata(metadata map[string]any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &metav1.ObjectMeta{})
}

// interfaces has the conversions of the objects of a write, which all have one kind. It implements
// admission.ObjectInterfaces and its parts, for one request.
type interfaces struct {
	write *attributes
	kind  kind.Kind // of the objects
}

var (
	_ admission.ObjectInterfaces       = (*interfaces)(nil)
	_ runtime.ObjectCreater            = (*interfaces)(nil)
	_ runtime.ObjectTyper              = (*interfaces)(nil)
	_ runtime.ObjectDefaulter          = (*interfaces)(nil)
	_ runtime.ObjectConvertor          = (*interfaces)(nil)
	_ runtime.EquivalentResourceMapper = (*interfaces)(nil)
)

// GetObjectCreater implements admission.ObjectInterfaces.
func (i *interfaces) GetObjectCreater() runtime.ObjectCreater { return i }

// GetObjectTyper implements admission.ObjectInterfaces.
func (i *interfaces) GetObjectTyper() runtime.ObjectTyper { return i }

// GetObjectDefaulter implements admission.ObjectInterfaces.
func (i *interfaces) GetObjectDefaulter() runtime.ObjectDefaulter { return i }

// GetObjectConvertor implements admission.ObjectInterfaces.
func (i *interfaces) GetObjectConvertor() runtime.ObjectConvertor { return i }

// GetEquivalentResourceMapper implements admission.ObjectInterfaces.
func (i *interfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper { return i }

// New implements runtime.ObjectCreater.
func (i *interfaces) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	if version := i.version(gvk); version >= 0 {
		return empty(i.kind, version), nil
	}
	return newObject(gvk)
}

// version returns the index of a version of the kind, or -1.
func (i *interfaces) version(gvk schema.GroupVersionKind) int {
	for v := range i.kind.Info().Versions {
		if kindOf(i.kind, v) == gvk {
			return v
		}
	}
	return -1
}

// ObjectKinds implements runtime.ObjectTyper.
func (i *interfaces) ObjectKinds(o runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	switch o.(type) {
	case *unstructured.Unstructured, *apiextensionsv1.CustomResourceDefinition:
		return []schema.GroupVersionKind{o.GetObjectKind().GroupVersionKind()}, false, nil
	}
	return clientscheme.Scheme.ObjectKinds(o)
}

// Recognizes implements runtime.ObjectTyper.
func (i *interfaces) Recognizes(gvk schema.GroupVersionKind) bool {
	_, err := i.New(gvk)
	return err == nil
}

// Default implements runtime.ObjectDefaulter.
func (i *interfaces) Default(o runtime.Object) {
	version := i.version(o.GetObjectKind().GroupVersionKind())
	if version < 0 {
		return // the conversion to the request's kind refuses it
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		i.defaultTree(u, version)
		return
	}
	ctx := context.Background() // the library has none
	if s, err := stored(ctx, i.kind, version, o); err == nil {
		_ = fillWith(ctx, o, i.kind, version, s)
	}
}

// defaultTree fills the defaults into a custom resource. What is malformed in its metadata stays.
func (i *interfaces) defaultTree(u *unstructured.Unstructured, version int) {
	fixed, bad, err := wellFormed(u)
	if err != nil {
		return
	}
	doc, err := i.kind.DefaultTree(fixed.Object, version)
	if err != nil {
		return
	}
	if bad != nil {
		doc["metadata"] = u.Object["metadata"]
	}
	u.Object = doc
}

// Convert implements runtime.ObjectConvertor. A plugin converts the object that it has changed into the object of the write.
func (i *interfaces) Convert(in, out, _ any) error {
	from, to := in.(runtime.Object), out.(runtime.Object)
	if err := i.convert(from, to); err != nil {
		return err
	}
	i.write.changed = i.write.changed || i.write.of.Object != nil && to == i.write.GetObject()
	return nil
}

func (i *interfaces) convert(in, out runtime.Object) error {
	have, want := in.GetObjectKind().GroupVersionKind(), out.GetObjectKind().GroupVersionKind()
	if reflect.TypeOf(in) == reflect.TypeOf(out) && (have == want || i.version(have) < 0 && have.GroupVersion() == want.GroupVersion()) {
		reflect.ValueOf(out).Elem().Set(reflect.ValueOf(in).Elem())
		return nil
	}
	from, to := i.version(have), i.version(want)
	u, isTree := in.(*unstructured.Unstructured)
	switch {
	case isTree && from < 0 && have.Group == want.Group:
		return fmt.Errorf("request to convert CR from an invalid group/version: %s", have.GroupVersion())
	case isTree && from < 0:
		return fmt.Errorf("%v is unstructured and is not suitable for converting to %q", have, want.GroupVersion())
	case from < 0 || to < 0:
		// As upstream, where the object of the write has the internal type.
		return fmt.Errorf("converting (%v) to (%s): unknown conversion", reflect.TypeOf(in).Elem(), i.kind.InternalType(i.write.of.Version))
	}
	ctx := context.Background() // the library has none
	if !isTree || i.kind.Info().Native {
		return i.between(ctx, in, out, from, to)
	}
	fixed, bad, err := wellFormed(u)
	if err != nil {
		return err
	}
	err = i.between(ctx, fixed, out, from, to)
	if converted, ok := out.(*unstructured.Unstructured); ok && err == nil && bad != nil {
		converted.Object["metadata"] = u.Object["metadata"]
	}
	return err
}

// between converts an object between two versions of the kind.
func (i *interfaces) between(ctx context.Context, in, out runtime.Object, from, to int) error {
	o, err := stored(ctx, i.kind, from, in)
	if err != nil {
		return err
	}
	return fillWith(ctx, out, i.kind, to, o)
}

// ConvertToVersion implements runtime.ObjectConvertor. A policy converts what its patch has made to the version of the request. Upstream
// has no conversion between two versions of a built-in kind, but by way of the internal type.
func (i *interfaces) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	have := in.GetObjectKind().GroupVersionKind()
	gvk, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{have})
	if !ok {
		if typed, err := i.New(have); err == nil {
			return nil, runtime.NewNotRegisteredErrForTarget(schemeName, reflect.TypeOf(typed).Elem(), target)
		}
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", have, target)
	}
	if i.kind != i.write.of.Resource && !i.write.of.Resource.Info().Native {
		// The converter of a custom resource knows its own versions only (upstream: apiextensions-apiserver, conversion/converter.go).
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", gvk.GroupVersion())
	}
	out, err := i.New(gvk)
	if err != nil {
		return nil, err
	}
	u, isTree := in.(*unstructured.Unstructured)
	switch _, trees := out.(*unstructured.Unstructured); {
	case gvk != have && !trees:
		from, err := i.New(have)
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("converting (%v) to (%v): unknown conversion", reflect.TypeOf(from).Elem(), reflect.TypeOf(out).Elem())
	case isTree && !trees && gvk == have:
		return out, fill(out, u.Object)
	}
	return out, i.convert(in, out)
}

// schemeName replaces the source position of the scheme that a real server prints.
const schemeName = "kubecoord"

// ConvertFieldLabel implements runtime.ObjectConvertor. No plugin calls it.
func (i *interfaces) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// EquivalentResourcesFor implements runtime.EquivalentResourceMapper.
func (i *interfaces) EquivalentResourcesFor(schema.GroupVersionResource, string) (all []schema.GroupVersionResource) {
	for k, v := range i.served() {
		all = append(all, resourceOf(k, v))
	}
	return all
}

// served yields the resource of the write in all versions and groups that have its objects.
func (i *interfaces) served() iter.Seq2[kind.Kind, int] {
	return func(yield func(kind.Kind, int) bool) {
		for _, k := range i.write.of.Resource.Groups() {
			for v, info := range k.Info().Versions {
				if !info.Unserved && !yield(k, v) {
					return
				}
			}
		}
	}
}

// KindFor implements runtime.EquivalentResourceMapper.
func (i *interfaces) KindFor(resource schema.GroupVersionResource, _ string) schema.GroupVersionKind {
	for k, v := range i.served() {
		if resourceOf(k, v) != resource {
			continue
		}
		if i.kind != i.write.of.Resource {
			return kindOf(i.kind, i.write.of.Version) // a body, such as Scale, has one version
		}
		return kindOf(k, v)
	}
	return schema.GroupVersionKind{}
}
