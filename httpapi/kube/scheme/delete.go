package scheme

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// setDeletion sets how objects of a built-in kind are deleted (upstream: pkg/registry, ReturnDeletedObject of each storage.go,
// DefaultGarbageCollectionPolicy and CheckGracefulDelete of each strategy.go).
func setDeletion(d *kind.Descriptor[meta.Object]) {
	switch d.Resource.Group + "/" + d.Resource.Kind {
	case "/Namespace", "/PersistentVolume", "/PersistentVolumeClaim", "/PodTemplate", "/ResourceQuota", "/Service", "/ServiceAccount",
		"storage.k8s.io/CSIDriver", "storage.k8s.io/CSINode", "storage.k8s.io/StorageClass", "storage.k8s.io/VolumeAttachment",
		"storage.k8s.io/VolumeAttributesClass", "resource.k8s.io/DeviceClass", "resource.k8s.io/ResourceClaim",
		"resource.k8s.io/ResourceClaimTemplate", "resource.k8s.io/ResourceSlice":
		d.Native.ReturnsObject = true
	case "/Pod":
		d.Native.ReturnsObject, d.Strategy.Delete.Grace = true, podGrace
	case "batch/Job":
		d.Native.OrphanWarning = "child pods are preserved by default when jobs are deleted; " +
			"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"
		d.Native.OrphansDependents = true
	case "/ReplicationController":
		d.Native.OrphansDependents = true
	}
}

// podGrace returns the seconds that the containers of a pod get to end. A pod without a node has none.
func podGrace(obj meta.Object, requested *int64) int64 {
	pod, seconds := value[corev1.Pod](obj), int64(0)
	if phase := pod.Status.Phase; pod.Spec.NodeName == "" || phase == corev1.PodFailed || phase == corev1.PodSucceeded {
		return 0
	}
	switch own := pod.Spec.TerminationGracePeriodSeconds; {
	case requested != nil:
		seconds = *requested
	case own != nil:
		seconds = *own
	}
	if seconds < 0 {
		return 1
	}
	return seconds
}
