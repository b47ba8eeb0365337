package scheme

import (
	"encoding/json"
	"maps"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// objectType is the Go type of a kind in one version.
type objectType struct {
	gvk    schema.GroupVersionKind
	goType reflect.Type // the struct
	// zero returns the members of an object of which nothing is set: those that its JSON always has. They are shared.
	zero func() map[string]any
	// managed values have the managedFields, which the errors of a review show.
	managed bool
}

func newObjectType(gvk schema.GroupVersionKind, goType reflect.Type) *objectType {
	t := &objectType{gvk: gvk, goType: goType}
	t.zero = sync.OnceValue(func() map[string]any {
		content, _ := contentOf(t.new())
		return content
	})
	return t
}

func (t *objectType) new() runtime.Object { return reflect.New(t.goType).Interface().(runtime.Object) }

// typed returns a stored object as a value of the Go type, which shares only parts of the metadata with it. The managedFields
// are left out unless t is managed.
func (t *objectType) typed(o kinds.Object) (runtime.Object, error) {
	out := t.new()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.(*store.Unstructured).Content, out); err != nil {
		return nil, err
	}
	fillMeta(metaOf(out), o.GetObjectMeta())
	if t.managed {
		fillManagers(metaOf(out), o.GetObjectMeta())
	}
	return out, nil
}

// typedOrNil is typed for the state before a write, which is nil on a create. A stored object always has the Go type.
func (t *objectType) typedOrNil(o kinds.Object) runtime.Object {
	if u, ok := o.(*store.Unstructured); !ok || u == nil {
		return nil
	}
	out, err := t.typed(o)
	if err != nil {
		return nil
	}
	return out
}

// change calls f with a stored object as a value of the Go type, and stores what it has changed: all but the metadata that
// belongs to the server. An object that does not have the form of the type stays as it is; its validation reports it.
func (t *objectType) change(o kinds.Object, f func(runtime.Object)) {
	obj, err := t.typed(o)
	if err != nil {
		return
	}
	f(obj)
	content, err := contentOf(obj)
	if err != nil {
		return
	}
	m, changed := o.GetObjectMeta(), metaOf(obj)
	o.(*store.Unstructured).Content = content
	m.Name, m.Labels, m.Annotations, m.Generation = changed.Name, changed.Labels, changed.Annotations, changed.Generation
}

// contentOf returns the members of an object except apiVersion, kind and metadata.
func contentOf(obj runtime.Object) (map[string]any, error) {
	content, err := treeOf(obj)
	delete(content, "apiVersion")
	delete(content, "kind")
	delete(content, "metadata")
	codec.NormalTree(content) // a float of an integer's value is stored as an integer
	return content, err
}

// metaOf returns the metadata of an object of k8s.io/api.
func metaOf(obj runtime.Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// fillMeta sets the metadata of an object of k8s.io/api. Labels and annotations are copies.
func fillMeta(m *metav1.ObjectMeta, from *meta.ObjectMeta) {
	*m = metav1.ObjectMeta{
		Name: from.Name, GenerateName: from.GenerateName, Namespace: from.Namespace, UID: types.UID(from.UID),
		ResourceVersion: from.ResourceVersion, Generation: from.Generation, CreationTimestamp: metav1.Time(from.CreationTimestamp),
		DeletionTimestamp: (*metav1.Time)(from.DeletionTimestamp), DeletionGracePeriodSeconds: from.DeletionGracePeriodSeconds,
		Labels: maps.Clone(from.Labels), Annotations: maps.Clone(from.Annotations), Finalizers: from.Finalizers,
	}
	for _, r := range from.OwnerReferences {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID),
			Controller: r.Controller, BlockOwnerDeletion: r.BlockOwnerDeletion,
		})
	}
}

// complete sets a member that is missing, and that the JSON of the type always has.
func (t *objectType) complete(o kinds.Object, member string) {
	content := o.(*store.Unstructured).Content
	if zero, ok := t.zero()[member]; ok && content[member] == nil {
		if content == nil {
			content = map[string]any{}
			o.(*store.Unstructured).Content = content
		}
		content[member] = runtime.DeepCopyJSONValue(zero)
	}
}

// fillManagers sets the managedFields of an object of k8s.io/api.
func fillManagers(m *metav1.ObjectMeta, from *meta.ObjectMeta) {
	for _, e := range from.ManagedFields {
		to := metav1.ManagedFieldsEntry{
			Manager: e.Manager, Operation: metav1.ManagedFieldsOperationType(e.Operation), APIVersion: e.APIVersion,
			Time: (*metav1.Time)(e.Time), FieldsType: e.FieldsType, Subresource: e.Subresource,
		}
		if raw, err := json.Marshal(e.FieldsV1); err == nil && e.FieldsV1 != nil {
			to.FieldsV1 = &metav1.FieldsV1{Raw: raw}
		}
		m.ManagedFields = append(m.ManagedFields, to)
	}
}
