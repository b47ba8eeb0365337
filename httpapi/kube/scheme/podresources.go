package scheme

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	helper "k8s.io/component-helpers/resource"
)

// defaultPodResources fills in what the resources of a pod leave out: limits of huge pages from the containers, requests from the
// containers and from the limits, and limits where all containers have some (upstream: pkg/api/pod, DefaultPodLevelResources).
func defaultPodResources(s *corev1.PodSpec) {
	r := s.Resources
	if r == nil || len(r.Requests)+len(r.Limits) == 0 {
		return
	}
	// A pod without resources of its own is the sum of its containers.
	containers := &corev1.Pod{Spec: corev1.PodSpec{Containers: s.Containers, InitContainers: s.InitContainers}}
	limits := helper.AggregateContainerLimits(containers, helper.PodResourcesOptions{})
	add := func(list *corev1.ResourceList, other, from corev1.ResourceList, of func(corev1.ResourceName) bool) {
		for name, q := range from {
			if _, has := other[name]; has || !helper.IsSupportedPodLevelResource(name) || !of(name) {
				continue
			}
			if _, has := (*list)[name]; !has {
				if *list == nil {
					*list = corev1.ResourceList{}
				}
				(*list)[name] = q.DeepCopy()
			}
		}
	}
	huge := func(name corev1.ResourceName) bool {
		return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
	}
	add(&r.Limits, r.Requests, limits, huge)
	requests := helper.AggregateContainerRequests(containers, helper.PodResourcesOptions{})
	add(&r.Requests, nil, requests, func(name corev1.ResourceName) bool { return !huge(name) })
	add(&r.Requests, nil, r.Limits, func(corev1.ResourceName) bool { return true })
	for name, q := range limits { // which may not be less than the requests
		if request := r.Requests[name]; request.Cmp(q) > 0 {
			limits[name] = request
		}
	}
	add(&r.Limits, nil, limits, func(name corev1.ResourceName) bool {
		_, requested := r.Requests[name]
		return requested && allLimited(s, name)
	})
}

// allLimited reports whether each container has a limit of a resource.
func allLimited(s *corev1.PodSpec, name corev1.ResourceName) bool {
	for _, containers := range [][]corev1.Container{s.Containers, s.InitContainers} {
		for i := range containers {
			if _, has := containers[i].Resources.Limits[name]; !has {
				return false
			}
		}
	}
	// Ephemeral containers have no resources.
	return len(s.EphemeralContainers) == 0
}

// updatePod keeps the resources of a pod for a writer that does not know the member.
func updatePod(p, old *corev1.Pod) {
	if p.Spec.Resources == nil {
		p.Spec.Resources = old.Spec.Resources.DeepCopy()
	}
}

// podMetadataOf returns the metadata of the pods that an object is or makes, or nil. It is nil for kinds without pods.
type podMetadataOf func(runtime.Object) *metav1.ObjectMeta

func podMetadata(kind string) podMetadataOf {
	path := []string{"Spec", "Template"}
	switch kind {
	case "Pod":
		path = nil
	case "PodTemplate":
		path = path[1:]
	case "CronJob":
		path = []string{"Spec", "JobTemplate", "Spec", "Template"}
	case "ReplicationController", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "Job":
	default:
		return nil
	}
	return func(o runtime.Object) *metav1.ObjectMeta {
		v := reflect.ValueOf(o)
		for _, name := range append(slices.Clip(path), "ObjectMeta") {
			if v = reflect.Indirect(v); !v.IsValid() {
				return nil // a ReplicationController without a template
			}
			v = v.FieldByName(name)
		}
		return v.Addr().Interface().(*metav1.ObjectMeta)
	}
}

// dropInitAnnotations drops the annotations by which kubelets before 1.8 found init containers.
func (of podMetadataOf) dropInitAnnotations(o runtime.Object) {
	if of == nil {
		return
	}
	m := of(o)
	if m == nil {
		return
	}
	for _, name := range []string{"alpha.kubernetes.io/init-containers", "alpha.kubernetes.io/init-container-statuses",
		"beta.kubernetes.io/init-containers", "beta.kubernetes.io/init-container-statuses"} {
		if _, has := m.Annotations["pod."+name]; !has {
			continue // the map may be shared
		}
		delete(m.Annotations, "pod."+name)
	}
}
