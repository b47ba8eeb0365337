package quota

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kind"
	in "github.com/kubecoord/kubecoord/store/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Of returns the Options of an API, without List. The functions read the store in place.
func Of(api *httpapi.API) Options {
	resource := func(plural string) meta.GroupResource {
		return meta.GroupResource{Group: resourcev1.GroupName, Resource: plural}
	}
	return Options{
		Clock: api.Store().Clock(),
		DeviceClasses: func() []*resourcev1.DeviceClass {
			return values[resourcev1.DeviceClass](api, resource("deviceclasses"), "")
		},
		Pod: func(namespace, name string) *corev1.Pod {
			if objects := in.ObjectsOf(api, meta.GroupResource{Resource: "pods"}); objects != nil {
				if o := objects.Get(namespace, name); o != nil {
					return kind.ValueOf[corev1.Pod](o)
				}
			}
			return nil
		},
		ResourceClaims: func(namespace string) []*resourcev1.ResourceClaim {
			return values[resourcev1.ResourceClaim](api, resource("resourceclaims"), namespace)
		},
	}
}

func values[T any](api *httpapi.API, resource meta.GroupResource, namespace string) (all []*T) {
	objects := in.ObjectsOf(api, resource)
	if objects == nil || objects.Len() == 0 {
		return nil
	}
	for o := range objects.All(namespace) {
		all = append(all, kind.ValueOf[T](o))
	}
	return all
}

// List returns the objects of a resource in a namespace, for Options.List. Objects that are only counted may have no Go type, and are
// empty here.
func List(api *httpapi.API) func(schema.GroupResource, string) []runtime.Object {
	return func(gr schema.GroupResource, namespace string) (all []runtime.Object) {
		objects := in.ObjectsOf(api, meta.GroupResource{Group: gr.Group, Resource: gr.Resource})
		if objects == nil {
			return nil
		}
		for o := range objects.All(namespace) {
			all = append(all, Value(o))
		}
		return all
	}
}

// Value returns an object as a value of its Go type, or an empty object.
func Value(o meta.Object) runtime.Object {
	if v, ok := kind.Value(o).(runtime.Object); ok {
		return v
	}
	return &metav1.PartialObjectMetadata{}
}
