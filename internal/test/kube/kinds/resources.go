package kinds

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

// Resource is one resource of a kube-apiserver.
type Resource struct {
	Group, Version, Plural, Kind string
	ClusterScoped                bool
}

// Resources returns the compared resources: the resources of the groups core, apps, batch, policy, rbac, networking, discovery,
// autoscaling, storage and events that can be created and deleted. Leases, LeaseCandidates and Endpoints are compared in
// httpapi/testdata/wire and in internal/test/etcd/referee/differential.
func Resources() []Resource {
	var all []Resource
	for line := range strings.Lines(resources) {
		f := strings.Fields(line)
		group, version, found := strings.Cut(f[0], "/")
		if !found {
			group, version = "", f[0]
		}
		all = append(all, Resource{Group: group, Version: version, Plural: f[1], Kind: f[2], ClusterScoped: len(f) > 3})
	}
	return all
}

const resources = `v1 configmaps ConfigMap
v1 events Event
v1 limitranges LimitRange
v1 namespaces Namespace cluster
v1 nodes Node cluster
v1 persistentvolumeclaims PersistentVolumeClaim
v1 persistentvolumes PersistentVolume cluster
v1 pods Pod
v1 podtemplates PodTemplate
v1 replicationcontrollers ReplicationController
v1 resourcequotas ResourceQuota
v1 secrets Secret
v1 serviceaccounts ServiceAccount
v1 services Service
apps/v1 controllerrevisions ControllerRevision
apps/v1 daemonsets DaemonSet
apps/v1 deployments Deployment
apps/v1 replicasets ReplicaSet
apps/v1 statefulsets StatefulSet
autoscaling/v1 horizontalpodautoscalers HorizontalPodAutoscaler
autoscaling/v2 horizontalpodautoscalers HorizontalPodAutoscaler
batch/v1 cronjobs CronJob
batch/v1 jobs Job
discovery.k8s.io/v1 endpointslices EndpointSlice
events.k8s.io/v1 events Event
networking.k8s.io/v1 ingressclasses IngressClass cluster
networking.k8s.io/v1 ingresses Ingress
networking.k8s.io/v1 ipaddresses IPAddress cluster
networking.k8s.io/v1 networkpolicies NetworkPolicy
networking.k8s.io/v1 servicecidrs ServiceCIDR cluster
policy/v1 poddisruptionbudgets PodDisruptionBudget
rbac.authorization.k8s.io/v1 clusterrolebindings ClusterRoleBinding cluster
rbac.authorization.k8s.io/v1 clusterroles ClusterRole cluster
rbac.authorization.k8s.io/v1 rolebindings RoleBinding
rbac.authorization.k8s.io/v1 roles Role
storage.k8s.io/v1 csidrivers CSIDriver cluster
storage.k8s.io/v1 csinodes CSINode cluster
storage.k8s.io/v1 csistoragecapacities CSIStorageCapacity
storage.k8s.io/v1 storageclasses StorageClass cluster
storage.k8s.io/v1 volumeattachments VolumeAttachment cluster
storage.k8s.io/v1 volumeattributesclasses VolumeAttributesClass cluster`

// APIVersion returns the group and version as an object has them.
func (r Resource) APIVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// GroupVersionKind returns the kind as client-go's scheme knows it.
func (r Resource) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// File returns the name of the resource's files, without an extension.
func (r Resource) File() string {
	if r.Group == "" {
		return "core-" + r.Version + "-" + r.Plural
	}
	group, _, _ := strings.Cut(r.Group, ".")
	return group + "-" + r.Version + "-" + r.Plural
}

// Path returns the path of the collection in a namespace, which cluster-scoped resources ignore.
func (r Resource) Path(namespace string) string {
	base := "/apis/" + r.APIVersion()
	if r.Group == "" {
		base = "/api/" + r.Version
	}
	if !r.ClusterScoped {
		base += "/namespaces/" + namespace
	}
	return base + "/" + r.Plural
}

// Name returns the name of an object. Each run of the scenario has an id of its own, for which RunID stands.
func (r Resource) Name(name string) string {
	if r.Plural == "ipaddresses" {
		return "2001:db8::" + RunID + ":" + ipNames[name]
	}
	return name + "-" + RunID
}

// ipNames are the last parts of names that have to be IP addresses.
var ipNames = map[string]string{"min": "1", "full": "2", "proto": "3", "apply": "4", "applymin": "5", "absent": "6", "dry": "7", "bad": "8", "gen": "9", "lonely": "a"}

// RunID stands for the id of a run.
const RunID = exchange.RunID
