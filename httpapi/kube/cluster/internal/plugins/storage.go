package plugins

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
)

// protectStorage is the plugin StorageObjectInUseProtection: a finalizer, which controllers remove, keeps what is in use.
func protectStorage(_ context.Context, a *writes.Attributes) error {
	if a.Operation != writes.Create || a.Subresource != "" {
		return nil
	}
	finalizer := map[string]string{
		"persistentvolumes": "kubernetes.io/pv-protection", "persistentvolumeclaims": "kubernetes.io/pvc-protection",
		"volumeattributesclasses": "kubernetes.io/vac-protection",
	}[a.Resource.Info().Plural]
	if m := a.Object.GetObjectMeta(); !slices.Contains(m.Finalizers, finalizer) {
		m.Finalizers = append(m.Finalizers, finalizer)
	}
	return nil
}

// validateExpansion is the plugin PersistentVolumeClaimResize.
func (r *reader) validateExpansion(a *writes.Attributes, claim *corev1.PersistentVolumeClaim) error {
	old := kind.ValueOf[corev1.PersistentVolumeClaim](a.Old)
	if a.Operation != writes.Update || old == nil {
		return nil
	}
	size, before := claim.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case size.Cmp(before) <= 0:
		return nil
	case old.Status.Phase != corev1.ClaimBound:
		return refuse(a, errors.New("Only bound persistent volume claims can be expanded")) //nolint:staticcheck // upstream's text
	case !r.expands(claim, old):
		return refuse(a, errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"))
	}
	return nil
}

// expands reports whether the class of a claim, which has not changed, allows expansion.
func (r *reader) expands(claim, old *corev1.PersistentVolumeClaim) bool {
	name := storagehelpers.GetPersistentVolumeClaimClass(claim)
	if name == "" || name != storagehelpers.GetPersistentVolumeClaimClass(old) {
		return false
	}
	class := r.storageClasses.Get("", name)
	return class != nil && class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion
}
