// Package boxes hands the Go types of Kubernetes' libraries to package kind, so that an object stays of its type from the body of a
// request to the watcher, and the errors of these libraries to package field.
package boxes

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Library returns the Go types of Kubernetes as a store keeps them, with more types that have JSON methods of their own. The
// metadata has the memory of the metadata of this module, so that an object lends it.
func Library(more map[reflect.Type]kind.Custom) *kind.Library {
	same := map[reflect.Type]reflect.Type{
		reflect.TypeFor[metav1.TypeMeta]():   reflect.TypeFor[meta.TypeMeta](),
		reflect.TypeFor[metav1.ObjectMeta](): reflect.TypeFor[meta.ObjectMeta](),
		reflect.TypeFor[metav1.Time]():       reflect.TypeFor[meta.Time](),
		reflect.TypeFor[metav1.MicroTime]():  reflect.TypeFor[meta.MicroTime](),
	}
	custom := map[reflect.Type]kind.Custom{
		reflect.TypeFor[resource.Quantity](): kind.CustomFuncs[resource.Quantity]{
			Shape: kind.Scalar, Copy: (*resource.Quantity).DeepCopy, Tree: func(q *resource.Quantity) any { return textOf(q) },
			Equal:  func(q, r *resource.Quantity) bool { return textOf(q) == textOf(r) },
			Settle: func(q *resource.Quantity) { _ = q.String() }, // remembers the text
		},
		reflect.TypeFor[intstr.IntOrString](): kind.CustomFuncs[intstr.IntOrString]{
			Shape: kind.Untyped, Tree: func(v *intstr.IntOrString) any {
				if v.Type == intstr.Int {
					return int64(v.IntVal)
				}
				return v.StrVal
			},
			Equal: func(v, w *intstr.IntOrString) bool { return *v == *w },
		},
		reflect.TypeFor[runtime.RawExtension](): kind.CustomFuncs[runtime.RawExtension]{
			Shape: kind.Opaque, Copy: func(r *runtime.RawExtension) runtime.RawExtension { return *r.DeepCopy() },
		},
	}
	maps.Copy(custom, more)
	return kind.NewLibrary(same, custom)
}

// textOf returns the text of a quantity, and does not remember it in q, which others may read.
func textOf(q *resource.Quantity) string {
	own := *q
	return own.String()
}
