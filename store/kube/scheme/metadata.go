package scheme

import (
	"strings"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// validateMetadata sets the rules by which a kind validates metadata, beside the rules of all kinds. Upstream each kind calls the rules of
// creates and updates itself, or none, or some of them twice (the ValidateUpdate of each strategy below registry, and apis, validation).
func validateMetadata(s *kind.Strategy[meta.Object], r served) {
	s.ValidateFinalizer = validateFinalizer
	switch r.kind {
	case "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "ControllerRevision", "CSIStorageCapacity",
		"DeviceClass", "Ingress", "IngressClass", "IPAddress", "Job", "Namespace", "Node", "PersistentVolumeClaim", "Pod", "ResourceClaim",
		"ResourceClaimTemplate", "Role", "RoleBinding", "Secret", "ServiceAccount", "StorageClass", "VolumeAttributesClass":
		s.Update.MetadataAsNew = 1
	case "APIService", "RuntimeClass":
		s.Update.MetadataAsNew, s.ValidateFinalizer = 1, nil
	case "CSINode", "EndpointSlice", "FlowSchema", "LimitRange", "PriorityLevelConfiguration", "VolumeAttachment":
		s.Update.MetadataAsNew, s.Update.LeavesMetadata = 1, true
	case "PersistentVolume":
		s.Update.MetadataAsNew, s.Update.LeavesMetadata = 2, true
	case "Event", "PodDisruptionBudget":
		s.Create.MetadataLast, s.Update.LeavesMetadata, s.ValidateFinalizer = true, true, nil
	}
	if strings.HasPrefix(r.group, "admissionregistration.") {
		s.Update.MetadataAsNew, s.Update.LeavesMetadata, s.ValidateFinalizer = 1, true, nil
	}
}

// validateStatusMetadata is validateMetadata for writes of the status, and of the approval.
func validateStatusMetadata(s *kind.Subresource[meta.Object], kind string) {
	switch kind {
	case "CertificateSigningRequest":
		s.MetadataAsNew = 1
	case "CronJob", "PodDisruptionBudget":
		s.LeavesMetadata = true
	}
}
