package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/admission"
	library "k8s.io/apiserver/pkg/quota/v1"
	podresources "k8s.io/component-helpers/resource"

	"github.com/kubecoord/kubecoord/store/clock"
)

// pods returns the evaluator of Pods.
func pods(c clock.Clock) *evaluator {
	return &evaluator{
		resource: corev1.Resource("pods"),
		handles:  chargesPod,
		counts:   countsPods,
		inScope:  podInScope,
		usage:    typed(func(p *corev1.Pod) corev1.ResourceList { return podUsage(p, c.Now()) }),
		requires: requirePod,
	}
}

// one is the quantity 1.
func one() resource.Quantity { return *resource.NewQuantity(1, resource.DecimalSI) }

// chargesPod reports whether a write of a Pod may change what it uses.
func chargesPod(a admission.Attributes) bool {
	switch {
	case a.GetSubresource() == "resize":
		return a.GetOperation() == admission.Update
	case a.GetSubresource() != "":
		return false
	case a.GetOperation() == admission.Update:
		pod, ok := a.GetObject().(*corev1.Pod)
		old, had := a.GetOldObject().(*corev1.Pod)
		return ok && had && isTerminating(pod) != isTerminating(old)
	}
	return a.GetOperation() == admission.Create
}

// countsPods reports whether a quota for a name is about Pods.
func countsPods(name corev1.ResourceName) bool {
	switch name {
	case "count/pods", corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	s := string(name)
	return strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(s, corev1.ResourceRequestsHugePagesPrefix) || isExtended(name)
}

// isExtended reports whether a quota for a name is about an extended resource, or about the devices of a class.
func isExtended(name corev1.ResourceName) bool {
	s := string(name)
	return strings.HasPrefix(s, corev1.DefaultResourceRequestsPrefix) &&
		(!isNative(s) || strings.HasPrefix(s, corev1.DefaultResourceRequestsPrefix+resourcev1.ResourceDeviceClassPrefix))
}

func isNative(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, corev1.ResourceDefaultNamespacePrefix)
}

// podUsage returns what a Pod uses at a time.
func podUsage(pod *corev1.Pod, now time.Time) corev1.ResourceList {
	used := corev1.ResourceList{"count/pods": one()}
	if !runs(pod, now) {
		return used
	}
	opts := podresources.PodResourcesOptions{UseStatusResources: true}
	return library.Add(used, computed(podresources.PodRequests(pod, opts), podresources.PodLimits(pod, opts)))
}

// runs reports whether a Pod has not ended. One that a lost node never deletes ceases to count after its grace.
func runs(pod *corev1.Pod, now time.Time) bool {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	if deleted, grace := pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds; deleted != nil && grace != nil {
		return !now.After(deleted.Add(time.Duration(*grace) * time.Second))
	}
	return true
}

// computed returns what requests and limits use.
func computed(requests, limits corev1.ResourceList) corev1.ResourceList {
	used := corev1.ResourceList{corev1.ResourcePods: one()}
	for name, q := range requests {
		switch {
		case name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			used[name] = q
			used[corev1.DefaultResourceRequestsPrefix+name] = q
		case !isNative(string(name)) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
			len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0,
			strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix):
			used[corev1.DefaultResourceRequestsPrefix+name] = q
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if q, ok := limits[name]; ok {
			used["limits."+name] = q
		}
	}
	return used
}

// requirePod returns which containers lack the CPU or the memory that a quota is for.
func requirePod(names []corev1.ResourceName, o runtime.Object) error {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("unexpected type %T", o)
	}
	if podresources.IsPodLevelResourcesSet(pod) {
		return nil
	}
	missing := map[string][]string{} // names of containers by resource
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		has := computed(c.Resources.Requests, c.Resources.Limits)
		for _, name := range names {
			switch name {
			case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
				corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:
				if _, ok := has[name]; !ok && !slices.Contains(missing[string(name)], c.Name) {
					missing[string(name)] = append(missing[string(name)], c.Name)
				}
			}
		}
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		slices.Sort(missing[name])
		texts = append(texts, name+" for: "+strings.Join(missing[name], ","))
	}
	if texts == nil {
		return nil
	}
	return fmt.Errorf("must specify %s", strings.Join(texts, "; "))
}

// podInScope reports whether a Pod is in a scope.
func podInScope(s corev1.ScopedResourceSelectorRequirement, o runtime.Object) (bool, error) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return false, fmt.Errorf("unexpected type %T", o)
	}
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return isTerminating(pod), nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return !isTerminating(pod), nil
	case corev1.ResourceQuotaScopeBestEffort:
		return pod.Status.QOSClass == corev1.PodQOSBestEffort, nil
	case corev1.ResourceQuotaScopeNotBestEffort:
		return pod.Status.QOSClass != corev1.PodQOSBestEffort, nil
	case corev1.ResourceQuotaScopePriorityClass:
		if pod.Spec.PriorityClassName == "" {
			return selects(s)
		}
		return selects(s, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return reachesOut(pod), nil
	}
	return false, nil
}

// isTerminating reports whether a Pod has a deadline.
func isTerminating(pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
}

// reachesOut reports whether a Pod has an affinity to Pods in other namespaces.
func reachesOut(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	if a == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		terms = append(terms, required...)
		for _, p := range preferred {
			terms = append(terms, p.PodAffinityTerm)
		}
	}
	if p := a.PodAffinity; p != nil {
		add(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		add(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}
