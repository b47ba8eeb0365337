package plugins

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
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
	podCertificateRequests  = meta.GroupResource{Group: certificatesv1.GroupName, Resource: "podcertificaterequests"}
	leases                  = meta.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	csiNodes                = meta.GroupResource{Group: storagev1.GroupName, Resource: "csinodes"}
	resourceSlices          = meta.GroupResource{Group: resourcev1.GroupName, Resource: "resourceslices"}
	runtimeClasses          = meta.GroupResource{Group: nodev1.GroupName, Resource: "runtimeclasses"}
)

// reader has what the plugins of one API read.
type reader struct {
	authorize       httpapi.Authorizer // or nil: all is allowed
	tolerate        Tolerate
	serviceAccounts typed.Objects[corev1.ServiceAccount]
	claims          typed.Objects[corev1.PersistentVolumeClaim]
	volumes         typed.Objects[corev1.PersistentVolume]
	drivers         typed.Objects[storagev1.CSIDriver]
	priorityClasses typed.Objects[schedulingv1.PriorityClass]
	storageClasses  typed.Objects[storagev1.StorageClass]
	ingressClasses  typed.Objects[networkingv1.IngressClass]
	runtimeClasses  typed.Objects[nodev1.RuntimeClass]
	nodes           typed.Objects[corev1.Node]
	limitRanges     typed.Objects[corev1.LimitRange]
	namespaces      typed.Objects[corev1.Namespace]
	pods            typed.Objects[corev1.Pod]
}

func newReader(api *httpapi.API, opts Options) *reader {
	r := &reader{authorize: opts.Authorize, tolerate: opts.Tolerate}
	r.serviceAccounts.Of(api, meta.GroupResource{Resource: "serviceaccounts"})
	r.claims.Of(api, meta.GroupResource{Resource: "persistentvolumeclaims"})
	r.volumes.Of(api, meta.GroupResource{Resource: "persistentvolumes"})
	r.drivers.Of(api, meta.GroupResource{Group: storagev1.GroupName, Resource: "csidrivers"})
	r.priorityClasses.Of(api, priorityClasses)
	r.storageClasses.Of(api, storageClasses)
	r.ingressClasses.Of(api, ingressClasses)
	r.runtimeClasses.Of(api, runtimeClasses)
	r.nodes.Of(api, meta.GroupResource{Resource: "nodes"})
	r.namespaces.Of(api, meta.GroupResource{Resource: "namespaces"})
	r.pods.Of(api, meta.GroupResource{Resource: "pods"})
	r.limitRanges.Of(api, meta.GroupResource{Resource: "limitranges"})
	return r
}
