package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// schemeName replaces the source position of the scheme that a real server prints.
const schemeName = "kubecoord"

// A real server answers a body of a wrong type with one of two errors: a type of its scheme
// cannot be converted, and any other type is not registered. This file lists the types of that
// scheme that are not served. Their bodies are not decoded first, as on a real server.

// isUnversioned reports whether a kind is known in every version.
func isUnversioned(kind string) bool {
	switch kind {
	case "Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList":
		return true
	}
	return false
}

// isMetaType reports whether a type is registered where DeleteOptions are expected
// (upstream: apimachinery, meta/internalversion/scheme).
func isMetaType(t meta.TypeMeta) bool {
	switch t.Kind {
	case "CreateOptions", "UpdateOptions": // in every version
		return true
	case "ListOptions", "GetOptions", "PatchOptions", "WatchEvent":
		return t.APIVersion == "meta.k8s.io/v1"
	case "TableOptions", "Table", "PartialObjectMetadata", "PartialObjectMetadataList":
		return t.APIVersion == "meta.k8s.io/v1" || t.APIVersion == "meta.k8s.io/v1beta1"
	}
	return false
}

// readable returns the served type for a type that a real server reads but no longer
// serves: Leases of v1beta1 (served until 1.22) have the members of v1.
func readable(t meta.TypeMeta) meta.TypeMeta {
	if t == (meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1beta1"}) {
		t.APIVersion = "coordination.k8s.io/v1"
	}
	return t
}

// isOptions reports whether a kind is in every version of every built-in group.
func isOptions(kind string) bool {
	switch kind {
	case "WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions":
		return true
	}
	return false
}

// isBuiltIn reports whether a type is in builtInTypes.
func isBuiltIn(t meta.TypeMeta) bool {
	for line := range strings.Lines(builtInTypes) {
		versions, kinds, _ := strings.Cut(line, ": ")
		if !slices.Contains(strings.Fields(versions), t.APIVersion) {
			continue
		}
		if isOptions(t.Kind) {
			return true
		}
		for _, kind := range strings.Fields(kinds) {
			kind, withoutList := strings.CutSuffix(kind, "!")
			if t.Kind == kind || t.Kind == kind+"List" && !withoutList {
				return true
			}
		}
	}
	return false
}

// builtInTypes lists the scheme of kube-apiserver 1.37 (upstream: pkg/api/legacyscheme) without the kinds that are
// served: the packages of k8s.io/api except apidiscovery. Each kind has a list, except those marked with "!".
const builtInTypes = `
admission.k8s.io/v1 admission.k8s.io/v1beta1: AdmissionReview!
admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1beta1: MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy
admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1beta1: ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
admissionregistration.k8s.io/v1alpha1: MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
apps/v1: ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
apps/v1beta1: ControllerRevision Deployment DeploymentRollback! Scale! StatefulSet
apps/v1beta2: ControllerRevision DaemonSet Deployment ReplicaSet Scale! StatefulSet
authentication.k8s.io/v1: SelfSubjectReview! TokenRequest! TokenReview!
authentication.k8s.io/v1alpha1: SelfSubjectReview!
authentication.k8s.io/v1beta1: SelfSubjectReview! TokenReview!
authorization.k8s.io/v1 authorization.k8s.io/v1beta1: LocalSubjectAccessReview! SelfSubjectAccessReview! SelfSubjectRulesReview! SubjectAccessReview!
autoscaling/v1: HorizontalPodAutoscaler Scale!
autoscaling/v2: HorizontalPodAutoscaler
batch/v1: CronJob Job
batch/v1beta1: CronJob
certificates.k8s.io/v1 certificates.k8s.io/v1beta1: CertificateSigningRequest ClusterTrustBundle PodCertificateRequest
certificates.k8s.io/v1alpha1: ClusterTrustBundle
coordination.k8s.io/v1beta1: Lease
discovery.k8s.io/v1 discovery.k8s.io/v1beta1: EndpointSlice
events.k8s.io/v1 events.k8s.io/v1beta1: Event
extensions/v1beta1: DaemonSet Deployment DeploymentRollback! Ingress NetworkPolicy ReplicaSet Scale!
flowcontrol.apiserver.k8s.io/v1 flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1beta3: FlowSchema PriorityLevelConfiguration
imagepolicy.k8s.io/v1alpha1: ImageReview!
internal.apiserver.k8s.io/v1alpha1: StorageVersion
lifecycle.k8s.io/v1alpha1: Eviction EvictionRequest
networking.k8s.io/v1: IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR
networking.k8s.io/v1beta1: IPAddress Ingress IngressClass ServiceCIDR
node.k8s.io/v1 node.k8s.io/v1alpha1 node.k8s.io/v1beta1: RuntimeClass
policy/v1 policy/v1beta1: Eviction! PodDisruptionBudget
rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1alpha1 rbac.authorization.k8s.io/v1beta1: ClusterRole ClusterRoleBinding Role RoleBinding
resource.k8s.io/v1 resource.k8s.io/v1beta2: DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice
resource.k8s.io/v1alpha3: DeviceTaintRule ResourcePoolStatusRequest
resource.k8s.io/v1beta1: DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
scheduling.k8s.io/v1: PriorityClass
scheduling.k8s.io/v1alpha3: CompositePodGroup PodGroup Workload
scheduling.k8s.io/v1beta1: PodGroup PriorityClass Workload
storage.k8s.io/v1 storage.k8s.io/v1beta1: CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass
storage.k8s.io/v1alpha1: CSIStorageCapacity VolumeAttachment VolumeAttributesClass
storagemigration.k8s.io/v1 storagemigration.k8s.io/v1beta1: StorageVersionMigration
v1: Binding! ComponentStatus ConfigMap Endpoints Event LimitRange List! Namespace Node NodeProxyOptions! PersistentVolume
v1: PersistentVolumeClaim Pod PodAttachOptions! PodExecOptions! PodLogOptions! PodPortForwardOptions! PodProxyOptions!
v1: PodTemplate RangeAllocation! ReplicationController ResourceQuota Secret SerializedReference! Service ServiceAccount
v1: ServiceProxyOptions!
`

func unregistered(t meta.TypeMeta) error {
	if group, ok := strings.CutSuffix("/"+t.APIVersion, "/__internal"); ok {
		return fmt.Errorf("no kind %q is registered for the internal version of group %q in scheme %q", t.Kind, strings.TrimPrefix(group, "/"), schemeName)
	}
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", t.Kind, t.APIVersion, schemeName)
}

// InternalType returns the Go type that a real server converts a body to, as errors quote it. Its package is named
// after the group. A custom resource is not converted; for it InternalType returns the type of the version.
func (t Target) InternalType() string {
	if !t.Kind.info.Native {
		return t.version() + "." + t.Kind.info.Kind
	}
	group, _, _ := strings.Cut(t.Kind.info.Group, ".")
	return cmp.Or(group, "core") + "." + t.Kind.info.Kind
}

// unconvertible returns the error for a registered type that is not the expected one.
// to is the Go type of the expected one.
func unconvertible(t meta.TypeMeta, to string) error {
	version := versionOf(t)
	if isUnversioned(t.Kind) || isOptions(t.Kind) || isMetaType(t) && t.Kind != "PartialObjectMetadataList" {
		version = "v1" // the package these types are in
	}
	return fmt.Errorf("converting (%s.%s) to (%s): unknown conversion", version, t.Kind, to)
}

// versionOf returns the version without the group.
func versionOf(t meta.TypeMeta) string {
	return t.APIVersion[strings.LastIndexByte(t.APIVersion, '/')+1:]
}
