package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"
)

// QOSClass returns the quality of service that the resources of a pod ask for, or else the resources of its containers (upstream:
// apis/core/v1/helper/qos).
func QOSClass(s *corev1.PodSpec) corev1.PodQOSClass {
	if helper.IsPodLevelResourcesSet(&corev1.Pod{Spec: *s}) {
		return requirementsClass(s.Resources)
	}
	var class corev1.PodQOSClass
	for _, containers := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range containers {
			of := requirementsClass(&containers[i].Resources)
			if class != "" && class != of {
				return corev1.PodQOSBurstable
			}
			class = of
		}
	}
	if class == "" {
		return corev1.PodQOSBestEffort
	}
	return class
}

// requirementsClass returns the class of CPU and memory: one class, if both have the same.
func requirementsClass(r *corev1.ResourceRequirements) corev1.PodQOSClass {
	cpu, memory := resourceClass(r, corev1.ResourceCPU), resourceClass(r, corev1.ResourceMemory)
	if cpu != memory {
		return corev1.PodQOSBurstable
	}
	return cpu
}

func resourceClass(r *corev1.ResourceRequirements, name corev1.ResourceName) corev1.PodQOSClass {
	request, limit := r.Requests[name], r.Limits[name]
	switch {
	case request.Cmp(limit) != 0:
		return corev1.PodQOSBurstable
	case request.Cmp(resource.Quantity{}) == 0:
		return corev1.PodQOSBestEffort
	}
	return corev1.PodQOSGuaranteed
}
