package quota

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	storagehelpers "k8s.io/component-helpers/storage/volume"
)

// ofClass stands between the name of a StorageClass and what a quota for its claims counts.
const ofClass = ".storageclass.storage.k8s.io/"

// claims returns the evaluator of PersistentVolumeClaims.
func claims() *evaluator {
	return &evaluator{
		resource: corev1.Resource("persistentvolumeclaims"),
		handles: func(a admission.Attributes) bool {
			if a.GetSubresource() != "status" {
				return isWrite(a)
			}
			_, ok := a.GetObject().(*corev1.PersistentVolumeClaim)
			_, had := a.GetOldObject().(*corev1.PersistentVolumeClaim)
			return ok && had
		},
		counts:  countsClaims,
		inScope: claimInScope,
		usage:   typed(claimUsage),
	}
}

func countsClaims(name corev1.ResourceName) bool {
	for _, what := range []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage} {
		if name == what || strings.HasSuffix(string(name), ofClass+string(what)) {
			return true
		}
	}
	return name == "count/persistentvolumeclaims"
}

func claimUsage(c *corev1.PersistentVolumeClaim) corev1.ResourceList {
	used := corev1.ResourceList{"count/persistentvolumeclaims": one(), corev1.ResourcePersistentVolumeClaims: one()}
	class := corev1.ResourceName(storagehelpers.GetPersistentVolumeClaimClass(c))
	if class != "" {
		used[class+ofClass+corev1.ResourcePersistentVolumeClaims] = one()
	}
	size, asked := c.Spec.Resources.Requests[corev1.ResourceStorage]
	if !asked {
		return used
	}
	size = wholeBytes(size)
	if allocated, ok := c.Status.AllocatedResources[corev1.ResourceStorage]; ok && allocated.Cmp(size) > 0 {
		size = wholeBytes(allocated) // until a failed expansion is taken back
	}
	used[corev1.ResourceRequestsStorage] = size
	if class != "" {
		used[class+ofClass+corev1.ResourceRequestsStorage] = size
	}
	return used
}

// wholeBytes rounds a quantity up, because a quota counts bytes.
func wholeBytes(q resource.Quantity) resource.Quantity {
	rounded := q.DeepCopy()
	if rounded.RoundUp(0) {
		return q
	}
	return rounded
}

// claimInScope reports whether a claim is in a scope. Of a claim that changes its class, all classes count.
func claimInScope(s corev1.ScopedResourceSelectorRequirement, o runtime.Object) (bool, error) {
	c, ok := o.(*corev1.PersistentVolumeClaim)
	if !ok {
		return false, fmt.Errorf("unexpected type %T", o)
	}
	if s.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
		return false, nil
	}
	var classes []string
	for _, name := range []*string{c.Spec.VolumeAttributesClassName, c.Status.CurrentVolumeAttributesClassName} {
		if name != nil {
			classes = append(classes, *name)
		}
	}
	if m := c.Status.ModifyVolumeStatus; m != nil {
		classes = append(classes, m.TargetVolumeAttributesClassName)
	}
	return selects(s, slices.DeleteFunc(classes, func(name string) bool { return name == "" })...)
}
