package admission

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

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
		return k.Received(ctx, k.Object(o, version), version)
	}
	doc, err := tree(o)
	if err == nil && !k.Info().Native {
		err = dropMalformed(doc)
	}
	if err != nil {
		return nil, err
	}
	out, _, err := k.FromTree(doc, version)
	if err != nil {
		return nil, err
	}
	return k.Received(ctx, out, version)
}

// dropMalformed removes the members of the metadata of a custom resource that have a wrong type.
func dropMalformed(doc map[string]any) error {
	if _, ok := doc["metadata"].(map[string]any); !ok {
		return apierrors.NewInternalError(errors.New("system metadata was not initialized"))
	}
	m, _, err := objectmeta.GetObjectMeta(doc, true)
	if err != nil {
		return err
	}
	return objectmeta.SetObjectMeta(doc, m)
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
	doc, err := tree(o)
	if err != nil {
		return
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		if doc, err := i.kind.DefaultTree(doc, version); err == nil {
			u.Object = doc
		}
		return
	}
	ctx := context.Background() // the library has none
	if s, err := stored(ctx, i.kind, version, o); err == nil {
		_ = fillWith(ctx, o, i.kind, version, s)
	}
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
	if _, isTree := in.(*unstructured.Unstructured); isTree && from < 0 {
		return fmt.Errorf("%v is unstructured and is not suitable for converting to %q", have, want.GroupVersion())
	}
	if from < 0 || to < 0 {
		// As upstream, where the object of the write has the internal type.
		return fmt.Errorf("converting (%v) to (%s): unknown conversion", reflect.TypeOf(in).Elem(), i.kind.InternalType(i.write.of.Version))
	}
	ctx := context.Background() // the library has none
	o, err := stored(ctx, i.kind, from, in)
	if err != nil {
		return err
	}
	return fillWith(ctx, out, i.kind, to, o)
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (i *interfaces) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	if !ok {
		return nil, fmt.Errorf("%v is unsuitable for converting to %q", in.GetObjectKind().GroupVersionKind(), target)
	}
	out, err := i.New(gvk)
	if err != nil {
		return nil, err
	}
	if u, ok := in.(*unstructured.Unstructured); ok && reflect.TypeOf(out) != reflect.TypeOf(in) && gvk == u.GroupVersionKind() {
		return out, fill(out, u.Object)
	}
	return out, i.convert(in, out)
}

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
