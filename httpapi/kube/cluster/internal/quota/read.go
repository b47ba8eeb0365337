package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	in "github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Of returns the Options of an API, without List. The functions read the store in place.
func Of(api *httpapi.API) Options {
	resource := func(plural string) meta.GroupResource {
		return meta.GroupResource{Group: resourcev1.GroupName, Resource: plural}
	}
	classes, pods := in.In[resourcev1.DeviceClass](api, resource("deviceclasses")), in.In[corev1.Pod](api, meta.GroupResource{Resource: "pods"})
	claims := in.In[resourcev1.ResourceClaim](api, resource("resourceclaims"))
	return Options{
		Clock:         api.Store().Clock(),
		DeviceClasses: func() []*resourcev1.DeviceClass { return slices.Collect(classes.All("")) },
		Pod:           pods.Get,
		ResourceClaims: func(namespace string) []*resourcev1.ResourceClaim {
			return slices.Collect(claims.All(namespace))
		},
	}
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
