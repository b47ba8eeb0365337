package defaults

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

func addVolumes(r rules) {
	on(r, volume)
	on(r, func(s *corev1.SecretVolumeSource) { pointer(&s.DefaultMode, corev1.SecretVolumeSourceDefaultMode) })
	on(r, func(s *corev1.ConfigMapVolumeSource) {
		pointer(&s.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	})
	on(r, func(s *corev1.DownwardAPIVolumeSource) {
		pointer(&s.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
	})
	on(r, func(s *corev1.ProjectedVolumeSource) {
		pointer(&s.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	})
	on(r, func(s *corev1.ServiceAccountTokenProjection) { pointer(&s.ExpirationSeconds, 60*60) })
	on(r, func(s *corev1.HostPathVolumeSource) { pointer(&s.Type, corev1.HostPathUnset) })
	on(r, func(s *corev1.ISCSIVolumeSource) { value(&s.ISCSIInterface, "default") })
	on(r, func(s *corev1.ISCSIPersistentVolumeSource) { value(&s.ISCSIInterface, "default") })
	on(r, func(s *corev1.RBDVolumeSource) { rbd(&s.RBDPool, &s.RadosUser, &s.Keyring) })
	on(r, func(s *corev1.RBDPersistentVolumeSource) { rbd(&s.RBDPool, &s.RadosUser, &s.Keyring) })
	on(r, func(s *corev1.AzureDiskVolumeSource) {
		pointer(&s.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		pointer(&s.FSType, "ext4")
		pointer(&s.ReadOnly, false)
		pointer(&s.Kind, corev1.AzureSharedBlobDisk)
	})
	on(r, func(s *corev1.ScaleIOVolumeSource) { scaleIO(&s.StorageMode, &s.FSType) })
	on(r, func(s *corev1.ScaleIOPersistentVolumeSource) { scaleIO(&s.StorageMode, &s.FSType) })
	on(r, func(v *corev1.PersistentVolume) {
		value(&v.Status.Phase, corev1.VolumePending)
		value(&v.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
		pointer(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	})
	on(r, func(c *corev1.PersistentVolumeClaim) { value(&c.Status.Phase, corev1.ClaimPending) })
	on(r, func(s *corev1.PersistentVolumeClaimSpec) { pointer(&s.VolumeMode, corev1.PersistentVolumeFilesystem) })
}

// volume makes a volume without a source an empty directory.
func volume(v *corev1.Volume) {
	if reflect.ValueOf(&v.VolumeSource).Elem().IsZero() {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Image != nil {
		value(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
	}
}

func rbd(pool, user, keyring *string) {
	value(pool, "rbd")
	value(user, "admin")
	value(keyring, "/etc/ceph/keyring")
}

func scaleIO(mode, fsType *string) {
	value(mode, "ThinProvisioned")
	value(fsType, "xfs")
}
