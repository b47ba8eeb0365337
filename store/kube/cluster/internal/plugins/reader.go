package plugins

import (
	"iter"
	"sync/atomic"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The resources of other groups than the core group.
var (
	priorityClasses         = meta.GroupResource{Group: schedulingv1.GroupName, Resource: "priorityclasses"}
	storageClasses          = meta.GroupResource{Group: storagev1.GroupName, Resource: "storageclasses"}
	volumeAttributesClasses = meta.GroupResource{Group: storagev1.GroupName, Resource: "volumeattributesclasses"}
	ingresses               = meta.GroupResource{Group: networkingv1.GroupName, Resource: "ingresses"}
	ingressClasses          = meta.GroupResource{Group: networkingv1.GroupName, Resource: "ingressclasses"}
	signingRequests         = meta.GroupResource{Group: certificatesv1.GroupName, Resource: "certificatesigningrequests"}
	trustBundles            = meta.GroupResource{Group: certificatesv1.GroupName, Resource: "clustertrustbundles"}
	leases                  = meta.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	csiNodes                = meta.GroupResource{Group: storagev1.GroupName, Resource: "csinodes"}
	resourceSlices          = meta.GroupResource{Group: resourcev1.GroupName, Resource: "resourceslices"}
	runtimeClasses          = meta.GroupResource{Group: nodev1.GroupName, Resource: "runtimeclasses"}
)

// reader has what the plugins of one API read.
type reader struct {
	authorize       httpapi.Authorizer // or nil: all is allowed
	tolerate        Tolerate
	serviceAccounts collection[corev1.ServiceAccount]
	claims          collection[corev1.PersistentVolumeClaim]
	volumes         collection[corev1.PersistentVolume]
	drivers         collection[storagev1.CSIDriver]
	priorityClasses collection[schedulingv1.PriorityClass]
	storageClasses  collection[storagev1.StorageClass]
	ingressClasses  collection[networkingv1.IngressClass]
	runtimeClasses  collection[nodev1.RuntimeClass]
	nodes           collection[corev1.Node]
	limitRanges     collection[corev1.LimitRange]
	namespaces      collection[corev1.Namespace]
	pods            collection[corev1.Pod]
}

func newReader(api *httpapi.API, opts Options) *reader {
	r := &reader{authorize: opts.Authorize, tolerate: opts.Tolerate}
	r.serviceAccounts.of(api, meta.GroupResource{Resource: "serviceaccounts"})
	r.claims.of(api, meta.GroupResource{Resource: "persistentvolumeclaims"})
	r.volumes.of(api, meta.GroupResource{Resource: "persistentvolumes"})
	r.drivers.of(api, meta.GroupResource{Group: storagev1.GroupName, Resource: "csidrivers"})
	r.priorityClasses.of(api, priorityClasses)
	r.storageClasses.of(api, storageClasses)
	r.ingressClasses.of(api, ingressClasses)
	r.runtimeClasses.of(api, runtimeClasses)
	r.nodes.of(api, meta.GroupResource{Resource: "nodes"})
	r.namespaces.of(api, meta.GroupResource{Resource: "namespaces"})
	r.pods.of(api, meta.GroupResource{Resource: "pods"})
	r.limitRanges.of(api, meta.GroupResource{Resource: "limitranges"})
	return r
}

// collection has the objects of a built-in kind, of the Go type T.
type collection[T any] struct {
	api      *httpapi.API
	resource meta.GroupResource
	found    atomic.Pointer[store.Objects]
}

func (c *collection[T]) of(api *httpapi.API, resource meta.GroupResource) {
	c.api, c.resource = api, resource
}

// objects returns the objects in the store, or nil if the API does not serve the kind.
func (c *collection[T]) objects() *store.Objects {
	if o := c.found.Load(); o != nil {
		return o
	}
	o := typed.ObjectsOf(c.api, c.resource)
	if o != nil {
		c.found.Store(o)
	}
	return o
}

// get returns an object, or nil. It must not be changed.
func (c *collection[T]) get(namespace, name string) *T {
	o := c.objects()
	if o == nil {
		return nil
	}
	found := o.Get(namespace, name)
	if found == nil {
		return nil
	}
	return kind.ValueOf[T](found)
}

// all yields the objects in a namespace, or all if it is "", in the order of their names. They must not be changed.
func (c *collection[T]) all(namespace string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		o := c.objects()
		if o == nil || o.Len() == 0 {
			return
		}
		for stored := range o.All(namespace) {
			if v := kind.ValueOf[T](stored); v != nil && !yield(v) {
				return
			}
		}
	}
}
