package defaults

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

func addStorage(r rules) {
	on(r, func(c *storagev1.StorageClass) {
		pointer(&c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		pointer(&c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	})
	on(r, func(s *storagev1.CSIDriverSpec) {
		pointer(&s.AttachRequired, true)
		pointer(&s.PodInfoOnMount, false)
		pointer(&s.StorageCapacity, false)
		pointer(&s.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
		if len(s.VolumeLifecycleModes) == 0 {
			s.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
		}
		pointer(&s.RequiresRepublish, false)
		pointer(&s.SELinuxMount, false)
		pointer(&s.PreventPodSchedulingIfMissing, false)
	})
}
