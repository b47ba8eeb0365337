package scheme

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// served is what a kube-apiserver has written by hand for a built-in kind (upstream: pkg/registry, the files storage.go and
// strategy.go of each resource).
type served struct {
	group, version, kind, plural string
	// also are older versions that are served too, and off the ones that --runtime-config switches on.
	also, off  []string
	short      []string
	categories []string
	cluster    bool
	// status is a subresource; keepsStatus lets a create set it, and ownStatus keeps its writes from the metadata.
	status, keepsStatus, ownStatus bool
	// statusUpdate changes an object in a write of its status.
	statusUpdate func(obj, old runtime.Object)
	// resets are the members, beside the status, that a write of the object does not own, and statusResets the ones, beside spec,
	// that a write of the status does not (upstream: GetResetFields).
	resets, statusResets []string
	// creates lets an update create; needsVersion refuses an update without a resourceVersion.
	creates, needsVersion bool
	prefix                string // in the storage, if it is not the plural
	verbs                 []string
	name                  func(string, bool) []string
	counts                []string // the members that count a generation; see counter
	fields                []kind.SelectableField[meta.Object]
	refusal               string                     // of other fields, if it is not the usual text
	lacks                 []string                   // see kind.NativeVersion.Lacks
	earlyWarnings         func(meta.Object) []string // about a new object, before create
	create                func(ctx context.Context, obj runtime.Object)
	update                func(obj, old runtime.Object)
	holds                 func(o meta.Object) bool
	terminate             func(obj runtime.Object)
	subresources          func(*builder) ([]kind.Subresource[meta.Object], error)
	// alias marks another group of the kind of the core group that has the same name.
	alias bool
	// answers marks a review, which is answered and not stored. The answer of a fresh one has no metadata of the request.
	answers, fresh bool
	// through is the subresource that a create goes to, objects are the objects of a kind that is not stored.
	through *kind.Through
	objects func() []runtime.Object
	// defaults replaces the defaults of k8s.io/api.
	defaults func(obj runtime.Object)
	// deprecated is the warning of the version.
	deprecated string
}

// resources returns the resources that a kube-apiserver serves by default, except those that other packages have: Lease,
// LeaseCandidate, Endpoints, CustomResourceDefinition and APIService.
func resources() []served {
	return append(coreResources(), groupResources()...)
}

// all is the category of kubectl get all.
func all() []string { return []string{"all"} }

func apiExtensions() []string { return []string{"api-extensions"} }

// spec are the members whose changes most kinds count.
func spec() []string { return []string{"spec"} }

func coreResources() []served {
	const v = "v1"
	return []served{
		{version: v, kind: "Binding", plural: "bindings", verbs: []string{"create"}, through: throughPod()},
		{version: v, kind: "ComponentStatus", plural: "componentstatuses", short: []string{"cs"}, cluster: true, verbs: []string{"get", "list"},
			objects: componentStatuses, deprecated: "v1 ComponentStatus is deprecated in v1.19+"},
		{version: v, kind: "ConfigMap", plural: "configmaps", short: []string{"cm"}},
		{version: v, kind: "Event", plural: "events", short: []string{"ev"}, creates: true, name: kind.PathSegmentName, fields: eventFields()},
		{version: v, kind: "LimitRange", plural: "limitranges", short: []string{"limits"}, creates: true, create: onCreate(createLimitRange)},
		{version: v, kind: "Namespace", plural: "namespaces", short: []string{"ns"}, cluster: true, status: true, name: kind.DNSLabelName,
			verbs:  []string{"create", "delete", "get", "list", "patch", "update", "watch"},
			fields: fields("status.phase"), create: onCreate(createNamespace), update: onUpdate(updateNamespace),
			holds: hasFinalizers, terminate: on(terminateNamespace), subresources: namespaceSubresources},
		{version: v, kind: "Node", plural: "nodes", short: []string{"no"}, cluster: true, status: true, keepsStatus: true, prefix: "minions", create: onCreate(createNode), update: onUpdate(updateNode), statusUpdate: onUpdate(nodeStatus),
			fields: []kind.SelectableField[meta.Object]{boolField("spec.unschedulable")}, subresources: nodeSubresources},
		{version: v, kind: "PersistentVolume", plural: "persistentvolumes", short: []string{"pv"}, cluster: true, status: true,
			create: onCreate(createPersistentVolume), statusUpdate: onUpdate(volumeStatus)},
		{version: v, kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims", short: []string{"pvc"}, status: true,
			create: onCreate(createClaim), update: onUpdate(updateClaim)},
		{version: v, kind: "Pod", plural: "pods", short: []string{"po"}, categories: all(), status: true, counts: spec(),
			fields: podFields(), earlyWarnings: warnAppArmor, create: onCreate(createPod), update: onUpdate(updatePod), statusUpdate: onUpdate(podStatus),
			statusResets: []string{"metadata.deletionTimestamp", "metadata.ownerReferences"}, subresources: podSubresources},
		{version: v, kind: "PodTemplate", plural: "podtemplates", counts: []string{"template"}},
		{version: v, kind: "ReplicationController", plural: "replicationcontrollers", short: []string{"rc"}, categories: all(), status: true, name: nameIsDeclared,
			prefix: "controllers", counts: spec(), fields: []kind.SelectableField[meta.Object]{intField("status.replicas")}, subresources: controllerScale},
		{version: v, kind: "ResourceQuota", plural: "resourcequotas", short: []string{"quota"}, status: true},
		{version: v, kind: "Secret", plural: "secrets", fields: fields("type"), update: onUpdate(updateSecret)},
		{version: v, kind: "Service", plural: "services", short: []string{"svc"}, categories: all(), status: true, creates: true,
			prefix: "services/specs", name: kind.DNSLabelName, fields: fields("spec.clusterIP", "spec.type"), create: onCreate(createService), update: onUpdate(updateService), subresources: serviceSubresources},
		serviceAccount(),
	}
}

func serviceAccount() served {
	return served{version: "v1", kind: "ServiceAccount", plural: "serviceaccounts", short: []string{"sa"},
		create: onCreate(cleanSecrets), update: onUpdate(updateServiceAccount)}
}

func groupResources() []served {
	const (
		v            = "v1"
		admission    = "admissionregistration.k8s.io"
		certificates = "certificates.k8s.io"
		flow         = "flowcontrol.apiserver.k8s.io"
		net          = "networking.k8s.io"
		rbac         = "rbac.authorization.k8s.io"
		res          = "resource.k8s.io"
		storage      = "storage.k8s.io"
	)
	return []served{
		{group: admission, version: v, kind: "MutatingAdmissionPolicy", off: []string{"v1beta1", "v1alpha1"}, plural: "mutatingadmissionpolicies", categories: apiExtensions(), cluster: true, needsVersion: true, counts: spec()},
		{group: admission, version: v, kind: "MutatingAdmissionPolicyBinding", off: []string{"v1beta1", "v1alpha1"}, plural: "mutatingadmissionpolicybindings", categories: apiExtensions(), cluster: true, needsVersion: true, counts: spec()},
		{group: admission, version: v, kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations", categories: apiExtensions(), cluster: true, needsVersion: true, counts: []string{webhooks}},
		{group: admission, version: v, kind: "ValidatingAdmissionPolicy", off: []string{"v1beta1"}, plural: "validatingadmissionpolicies", categories: apiExtensions(), cluster: true, status: true, ownStatus: true, needsVersion: true, counts: spec()},
		{group: admission, version: v, kind: "ValidatingAdmissionPolicyBinding", off: []string{"v1beta1"}, plural: "validatingadmissionpolicybindings", categories: apiExtensions(), cluster: true, needsVersion: true, counts: spec()},
		{group: admission, version: v, kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations", categories: apiExtensions(), cluster: true, needsVersion: true, counts: []string{webhooks}},

		{group: "apps", version: v, kind: "ControllerRevision", plural: "controllerrevisions"},
		{group: "apps", version: v, kind: "DaemonSet", plural: "daemonsets", short: []string{"ds"}, categories: all(), status: true, counts: spec(),
			create: onCreate(createDaemonSet), update: onUpdate(updateDaemonSet), statusUpdate: onUpdate(daemonSetStatus)},
		{group: "apps", version: v, kind: "Deployment", plural: "deployments", short: []string{"deploy"}, categories: all(), status: true,
			counts: []string{"spec", annotations}, statusUpdate: onUpdate(deploymentStatus), statusResets: []string{"metadata.labels"}, subresources: scale},
		{group: "apps", version: v, kind: "ReplicaSet", plural: "replicasets", short: []string{"rs"}, categories: all(), status: true, counts: spec(), subresources: scale},
		{group: "apps", version: v, kind: "StatefulSet", plural: "statefulsets", short: []string{"sts"}, categories: all(), status: true, counts: spec(),
			name: kind.DNSLabelName, subresources: scale},

		{group: "autoscaling", version: "v2", also: []string{"v1"}, kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers", short: []string{"hpa"}, categories: all(), status: true, counts: spec()},

		{group: "batch", version: v, kind: "CronJob", plural: "cronjobs", short: []string{"cj"}, categories: all(), status: true, counts: spec()},
		{group: "batch", version: v, kind: "Job", plural: "jobs", categories: all(), status: true, counts: spec(),
			fields: []kind.SelectableField[meta.Object]{{Path: "status.successful", Value: number("status", "succeeded")}}, refusal: "field label %q not supported for Job", create: onCreate(createJob)},

		{group: certificates, version: v, kind: "CertificateSigningRequest", plural: "certificatesigningrequests", short: []string{"csr"}, cluster: true, status: true,
			name: anyName, fields: fields("spec.signerName"), create: createSigningRequest, update: onUpdate(updateSigningRequest), statusUpdate: onUpdate(requestStatus),
			resets: []string{"spec"}, statusResets: []string{"status.conditions"}, subresources: approval},

		{group: certificates, version: v, kind: "ClusterTrustBundle", off: []string{"v1beta1", "v1alpha1"}, plural: "clustertrustbundles", cluster: true, needsVersion: true,
			name: anyName, fields: fields("spec.signerName")}, // the validation knows the rule of the name
		{group: certificates, version: v, kind: "PodCertificateRequest", off: []string{"v1beta1"}, plural: "podcertificaterequests", status: true, ownStatus: true, needsVersion: true,
			fields: fields("spec.signerName", "spec.podName", "spec.nodeName"), lacks: []string{".metadata.namespace"}},

		{group: "discovery.k8s.io", version: v, kind: "EndpointSlice", plural: "endpointslices", counts: []string{"addressType", "endpoints", "ports", labels}, create: onCreate(createEndpointSlice), update: onUpdate(updateEndpointSlice)},

		{group: "events.k8s.io", version: v, kind: "Event", plural: "events", short: []string{"ev"}, alias: true, fields: groupEventFields()},

		{group: flow, version: v, kind: "FlowSchema", plural: "flowschemas", cluster: true, status: true, ownStatus: true, counts: spec()},
		{group: flow, version: v, kind: "PriorityLevelConfiguration", plural: "prioritylevelconfigurations", cluster: true, status: true, ownStatus: true, counts: spec()},

		{group: net, version: v, kind: "Ingress", plural: "ingresses", short: []string{"ing"}, status: true, prefix: "ingress", counts: spec()},
		{group: net, version: v, kind: "IngressClass", plural: "ingressclasses", cluster: true, counts: spec()},
		{group: net, version: v, kind: "IPAddress", off: []string{"v1beta1"}, plural: "ipaddresses", short: []string{"ip"}, cluster: true, name: nameIsIP},
		{group: net, version: v, kind: "NetworkPolicy", plural: "networkpolicies", short: []string{"netpol"}, counts: spec()},
		{group: net, version: v, kind: "ServiceCIDR", off: []string{"v1beta1"}, plural: "servicecidrs", cluster: true, status: true, ownStatus: true},

		{group: "node.k8s.io", version: v, kind: "RuntimeClass", plural: "runtimeclasses", cluster: true, creates: true, needsVersion: true},

		{group: "policy", version: v, kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", short: []string{"pdb"}, status: true, needsVersion: true, name: kind.PathSegmentName, counts: spec()},

		{group: rbac, version: v, kind: "ClusterRole", plural: "clusterroles", cluster: true, creates: true, name: kind.PathSegmentName},
		{group: rbac, version: v, kind: "ClusterRoleBinding", plural: "clusterrolebindings", cluster: true, creates: true, name: kind.PathSegmentName},
		{group: rbac, version: v, kind: "Role", plural: "roles", creates: true, name: kind.PathSegmentName},
		{group: rbac, version: v, kind: "RoleBinding", plural: "rolebindings", creates: true, name: kind.PathSegmentName},

		{group: res, version: v, kind: "DeviceClass", off: []string{"v1beta2", "v1beta1"}, plural: "deviceclasses", cluster: true, counts: spec(), name: nameIsDeclared},
		{group: res, version: v, kind: "DeviceTaintRule", off: []string{"v1beta2", "v1alpha3"}, plural: "devicetaintrules", cluster: true, status: true, ownStatus: true, needsVersion: true, counts: spec(), update: onUpdate(updateTaintRule)},
		{group: res, version: v, kind: "ResourceClaim", off: []string{"v1beta2", "v1beta1"}, plural: "resourceclaims", status: true, ownStatus: true, statusUpdate: onUpdate(claimStatus)},
		{group: res, version: v, kind: "ResourceClaimTemplate", off: []string{"v1beta2", "v1beta1"}, plural: "resourceclaimtemplates"},
		{group: res, version: v, kind: "ResourceSlice", off: []string{"v1beta2", "v1beta1"}, plural: "resourceslices", cluster: true, counts: spec(), fields: fields("spec.nodeName", "spec.driver"),
			refusal: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s"},

		{group: "scheduling.k8s.io", version: v, kind: "PriorityClass", plural: "priorityclasses", short: []string{"pc"}, cluster: true, counts: []string{}},

		{group: storage, version: v, kind: "CSIDriver", plural: "csidrivers", cluster: true, needsVersion: true, counts: spec(), create: onCreate(createCSIDriver)},
		{group: storage, version: v, kind: "CSINode", plural: "csinodes", cluster: true, status: true, ownStatus: true, needsVersion: true},
		{group: storage, version: v, kind: "CSIStorageCapacity", plural: "csistoragecapacities", needsVersion: true},
		{group: storage, version: v, kind: "StorageClass", plural: "storageclasses", short: []string{"sc"}, cluster: true},
		{group: storage, version: v, kind: "VolumeAttachment", plural: "volumeattachments", cluster: true, status: true, ownStatus: true, needsVersion: true},
		{group: storage, version: v, kind: "VolumeAttributesClass", off: []string{"v1beta1"}, plural: "volumeattributesclasses", short: []string{"vac"}, cluster: true},

		{group: "storagemigration.k8s.io", version: v, kind: "StorageVersionMigration", off: []string{"v1beta1"}, plural: "storageversionmigrations", cluster: true, status: true, ownStatus: true, needsVersion: true},
	}
}
