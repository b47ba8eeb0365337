package printers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func volumeCells(o *corev1.PersistentVolume, c clock) []any {
	claim := ""
	if ref := o.Spec.ClaimRef; ref != nil {
		claim = ref.Namespace + "/" + ref.Name
	}
	return []any{
		o.Name, storageOf(o.Spec.Capacity), formatAccessModes(o.Spec.AccessModes), string(o.Spec.PersistentVolumeReclaimPolicy),
		phaseOf(o, string(o.Status.Phase)), claim, classOf(o, o.Spec.StorageClassName), or(o.Spec.VolumeAttributesClassName, unset),
		o.Status.Reason, c.age(o), or(o.Spec.VolumeMode, unset),
	}
}

func claimCells(o *corev1.PersistentVolumeClaim, c clock) []any {
	capacity, modes := "", ""
	if o.Spec.VolumeName != "" {
		capacity, modes = storageOf(o.Status.Capacity), formatAccessModes(o.Status.AccessModes)
	}
	return []any{
		o.Name, phaseOf(o, string(o.Status.Phase)), o.Spec.VolumeName, capacity, modes, classOf(o, deref(o.Spec.StorageClassName)),
		or(o.Spec.VolumeAttributesClassName, unset), c.age(o), or(o.Spec.VolumeMode, unset),
	}
}

func phaseOf(o metav1.Object, phase string) string {
	if o.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}

func storageOf(resources corev1.ResourceList) string {
	q := resources[corev1.ResourceStorage]
	return q.String()
}

// classOf returns the storage class of the old annotation, or else of the spec.
func classOf(o metav1.Object, class string) string {
	if old, ok := o.GetAnnotations()[corev1.BetaStorageClassAnnotation]; ok {
		return old
	}
	return class
}

// formatAccessModes returns the short names of the modes in a fixed order.
func formatAccessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var list []string
	for _, m := range []struct {
		mode  corev1.PersistentVolumeAccessMode
		short string
	}{
		{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, m.mode) {
			list = append(list, m.short)
		}
	}
	return join(list)
}

// storageCells returns the cells of kinds of the group storage.k8s.io.
func storageCells(obj runtime.Object, c clock) []any {
	switch o := obj.(type) {
	case *storagev1.StorageClass:
		return storageClassCells(o, c)
	case *storagev1.VolumeAttributesClass:
		return []any{o.Name, o.DriverName, c.age(o)}
	case *storagev1.VolumeAttachment:
		return []any{
			o.Name, o.Spec.Attacher, deref(o.Spec.Source.PersistentVolumeName), o.Spec.NodeName, o.Status.Attached, c.age(o),
		}
	case *storagev1.CSINode:
		return []any{o.Name, int64(len(o.Spec.Drivers)), c.age(o)}
	case *storagev1.CSIDriver:
		return driverCells(o, c)
	}
	return nil
}

// DefaultClass reports whether a list marks a class rather than another, or nil: the newest default, or the first of several by name.
func DefaultClass(o, other *storagev1.StorageClass) bool {
	if o.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && o.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
		return false
	}
	return other == nil || o.CreationTimestamp.After(other.CreationTimestamp.Time) ||
		o.CreationTimestamp.Equal(&other.CreationTimestamp) && o.Name < other.Name
}

func storageClassCells(o *storagev1.StorageClass, c clock) []any {
	return []any{
		o.Name, o.Provisioner, or(o.ReclaimPolicy, string(corev1.PersistentVolumeReclaimDelete)),
		or(o.VolumeBindingMode, string(storagev1.VolumeBindingImmediate)), deref(o.AllowVolumeExpansion), c.age(o),
	}
}

func driverCells(o *storagev1.CSIDriver, c clock) []any {
	var modes, audiences []string
	for _, m := range o.Spec.VolumeLifecycleModes {
		modes = append(modes, string(m))
	}
	for _, t := range o.Spec.TokenRequests {
		audiences = append(audiences, t.Audience)
	}
	tokens := unset
	if o.Spec.TokenRequests != nil {
		tokens = join(audiences)
	}
	attach := o.Spec.AttachRequired == nil || *o.Spec.AttachRequired
	return []any{
		o.Name, attach, deref(o.Spec.PodInfoOnMount), deref(o.Spec.StorageCapacity), tokens, deref(o.Spec.RequiresRepublish),
		orWord(join(modes), none), c.age(o),
	}
}

// migrationCells returns the cells of a migration. Of several conditions that are true the last one counts.
func migrationCells(o *storagemigrationv1.StorageVersionMigration) []any {
	state := "Unknown"
	for _, cond := range o.Status.Conditions {
		if cond.Status != metav1.ConditionTrue {
			continue
		}
		switch storagemigrationv1.MigrationConditionType(cond.Type) {
		case storagemigrationv1.MigrationRunning, storagemigrationv1.MigrationFailed, storagemigrationv1.MigrationSucceeded:
			state = cond.Type
		}
	}
	return []any{o.Name, o.Spec.Resource.String(), state}
}

// resourceClaimState returns the states of a claim for devices.
func resourceClaimState(o *resourcev1.ResourceClaim) string {
	var states []string
	if o.DeletionTimestamp != nil {
		states = append(states, "deleted")
	}
	switch {
	case o.Status.Allocation != nil && len(o.Status.ReservedFor) > 0:
		states = append(states, "allocated", "reserved")
	case o.Status.Allocation != nil:
		states = append(states, "allocated")
	case o.DeletionTimestamp == nil:
		states = append(states, "pending")
	}
	return join(states)
}
