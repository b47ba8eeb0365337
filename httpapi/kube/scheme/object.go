package scheme

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// objectType is the Go type of a kind in one version. Its objects are Boxes, and stay of that type from the body of a request to the
// watcher.
type objectType struct {
	gvk    schema.GroupVersionKind
	goType reflect.Type // the struct
	typ    kind.Type
}

func (t *objectType) new() meta.Object { return t.typ.New().(meta.Object) }

// valueOf returns an object as a value of its Go type. A stored object must not be changed.
func valueOf(o meta.Object) runtime.Object { return kind.Value(o).(runtime.Object) }

// valueOrNil is valueOf for the state before a write, which is nil on a create.
func valueOrNil(o meta.Object) runtime.Object {
	if o == nil {
		return nil
	}
	return valueOf(o)
}

// value returns an object as a value of the Go type T.
func value[T any](o meta.Object) *T { return kind.ValueOf[T](o) }

// copyOf returns an object of its own with the value of an object.
func (t *objectType) copyOf(o meta.Object) runtime.Object {
	return valueOf(t.typ.Copy(o).(meta.Object))
}

// metaOf returns the metadata of an object of k8s.io/api.
func metaOf(obj runtime.Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// at returns a value in an object as a tree, or nil.
func at(o meta.Object, path ...string) any { return kind.Member(o, path...) }
