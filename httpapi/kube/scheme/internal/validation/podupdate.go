package validation

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podUpdate checks an update of a Pod by way of the object itself: most of the spec must stay.
func podUpdate(e *errs, pod, old *corev1.Pod) {
	p := field.NewPath("spec")
	podObject(e, pod)
	podAnnotationUpdate(e, pod, old)
	for _, list := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", pod.Spec.Containers, old.Spec.Containers}, {"initContainers", pod.Spec.InitContainers, old.Spec.InitContainers}} {
		p := p.Child(list.name)
		if len(list.now) != len(list.was) {
			e.forbidden(p, "pod updates may not add or remove containers")
			return
		}
		for i, c := range list.now {
			e.present(p.Index(i).Child("image"), c.Image)
			imageSpace(e, p.Index(i), c.Image)
		}
	}
	deadlineUpdate(e, p.Child("activeDeadlineSeconds"), pod.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds)
	tolerationUpdate(e, p.Child("tolerations"), pod.Spec.Tolerations, old.Spec.Tolerations)
	gateUpdate(e, p.Child("schedulingGates"), pod.Spec.SchedulingGates, old.Spec.SchedulingGates)
	if e.same {
		return
	}
	allowed := pod.Spec.DeepCopy()
	for i := range allowed.Containers {
		allowed.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range allowed.InitContainers {
		allowed.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	allowed.ActiveDeadlineSeconds, allowed.SchedulingGates, allowed.Tolerations =
		old.Spec.ActiveDeadlineSeconds, old.Spec.SchedulingGates, old.Spec.Tolerations
	if len(old.Spec.SchedulingGates) > 0 {
		gatedUpdate(e, p, allowed, &old.Spec)
	}
	if !apiequality.Semantic.DeepEqual(*allowed, old.Spec) {
		e.forbidden(p, "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"+
			"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"+
			"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"+difference(old.Spec, *allowed))
	}
}

func podAnnotationUpdate(e *errs, pod, old *corev1.Pod) {
	p := field.NewPath("metadata", "annotations")
	check := func(key, mayNot string) {
		if strings.HasPrefix(key, appArmorAnnotation) {
			e.forbidden(p.Key(key), "may not "+mayNot+" AppArmor annotations")
		}
		if key == mirrorAnnotation {
			e.forbidden(p.Key(key), "may not "+mayNot+" mirror pod annotation")
		}
	}
	for _, key := range sorted(old.Annotations) {
		if value, ok := pod.Annotations[key]; !ok || value != old.Annotations[key] {
			check(key, "remove or update")
		}
	}
	for _, key := range sorted(pod.Annotations) {
		if _, ok := old.Annotations[key]; !ok {
			check(key, "add")
		}
	}
	podAnnotations(e, p, pod.Annotations, &pod.Spec)
}

func deadlineUpdate(e *errs, p loc, now, was *int64) {
	switch {
	case now != nil && (*now < 0 || *now > math.MaxInt32):
		e.invalid(p, *now, validation.InclusiveRangeError(0, math.MaxInt32))
	case now != nil && was != nil && *was < *now:
		e.invalid(p, *now, "must be less than or equal to previous value")
	case now == nil && was != nil:
		e.invalid(p, now, "must not update from a positive integer to nil value")
	}
}

func tolerationUpdate(e *errs, p loc, now, was []corev1.Toleration) {
	for _, old := range was {
		if !slices.ContainsFunc(now, func(t corev1.Toleration) bool {
			t.TolerationSeconds = old.TolerationSeconds
			return reflect.DeepEqual(t, old)
		}) {
			e.forbidden(p, "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
	tolerations(e, p, now)
}

func gateUpdate(e *errs, p loc, now, was []corev1.PodSchedulingGate) {
	old, last := map[corev1.PodSchedulingGate]bool{}, map[corev1.PodSchedulingGate]int{}
	for _, gate := range was {
		old[gate] = true
	}
	for i, gate := range now {
		last[gate] = i
	}
	for i, gate := range now {
		if !old[gate] && last[gate] == i {
			e.forbidden(p.Index(i).Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name))
		}
	}
}

// gatedUpdate checks what more may change in a pod that is not scheduled yet: node selectors may be narrowed. It sets in
// allowed what may have changed back to what it was.
func gatedUpdate(e *errs, p loc, allowed, old *corev1.PodSpec) {
	if !apiequality.Semantic.DeepEqual(allowed.NodeSelector, old.NodeSelector) {
		for _, key := range sorted(old.NodeSelector) {
			if value, ok := allowed.NodeSelector[key]; !ok || value != old.NodeSelector[key] {
				e.invalid(p.Child("nodeSelector"), allowed.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
				break
			}
		}
		allowed.NodeSelector = old.NodeSelector
	}
	was, now := deref(old.Affinity).NodeAffinity, deref(allowed.Affinity).NodeAffinity
	if apiequality.Semantic.DeepEqual(was, now) {
		return
	}
	nodeAffinityUpdate(e, p.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"), now, was)
	switch {
	case allowed.Affinity == nil && was != nil:
		allowed.Affinity = &corev1.Affinity{NodeAffinity: was}
	case allowed.Affinity != nil && old.Affinity == nil && allowed.Affinity.PodAffinity == nil && allowed.Affinity.PodAntiAffinity == nil:
		allowed.Affinity = nil
	case allowed.Affinity != nil:
		allowed.Affinity.NodeAffinity = was
	}
}

func nodeAffinityUpdate(e *errs, p loc, now, was *corev1.NodeAffinity) {
	old := deref(deref(was).RequiredDuringSchedulingIgnoredDuringExecution).NodeSelectorTerms
	if was == nil || was.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	terms := deref(deref(now).RequiredDuringSchedulingIgnoredDuringExecution).NodeSelectorTerms
	if len(old) > 0 && len(old) != len(terms) {
		e.invalid(p, internal{terms}, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
		return
	}
	for i := range old {
		if !narrowed(terms[i], old[i]) {
			e.invalid(p.Index(i), internal{terms[i]}, "only additions are allowed (no mutations or deletions)")
		}
	}
}

// narrowed reports whether a term has all requirements of the old one first. A term that is empty selects nothing and stays.
func narrowed(term, old corev1.NodeSelectorTerm) bool {
	prefix := func(now, was []corev1.NodeSelectorRequirement) bool {
		return len(now) >= len(was) && apiequality.Semantic.DeepEqual(now[:len(was)], was)
	}
	if len(old.MatchExpressions)+len(old.MatchFields) == 0 {
		return len(term.MatchExpressions)+len(term.MatchFields) == 0
	}
	return (len(old.MatchExpressions) == 0 || prefix(term.MatchExpressions, old.MatchExpressions)) &&
		(len(old.MatchFields) == 0 || prefix(term.MatchFields, old.MatchFields))
}

func podEphemeralUpdate(e *errs, pod, old *corev1.Pod) {
	podObject(e, pod)
	podAnnotationUpdate(e, pod, old)
	if _, ok := old.Annotations[mirrorAnnotation]; ok {
		e.ErrorList = nil
		e.forbidden(field.NewPath(""), "static pods do not support ephemeral containers")
		return
	}
	p := field.NewPath("spec", "ephemeralContainers")
	index := map[string]int{}
	for i := range pod.Spec.EphemeralContainers {
		index[pod.Spec.EphemeralContainers[i].Name] = i
	}
	for _, was := range old.Spec.EphemeralContainers {
		i, ok := index[was.Name]
		if !ok {
			e.forbidden(p, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name))
		} else if now := pod.Spec.EphemeralContainers[i]; !apiequality.Semantic.DeepEqual(was, now) {
			e.forbidden(p, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", was.Name, difference(was, now)))
		}
	}
}

// podResize checks an update by way of the subresource resize, which changes the resources cpu and memory only.
func podResize(e *errs, pod, old *corev1.Pod) {
	podObject(e, pod)
	p := field.NewPath("spec")
	only := func(detail string) { e.ErrorList = nil; e.forbidden(field.NewPath(""), detail) }
	if _, ok := old.Annotations[mirrorAnnotation]; ok {
		only("static pods cannot be resized")
		return
	}
	if old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows {
		only("windows pods cannot be resized")
		return
	}
	was := old.Status.QOSClass
	if was == "" {
		was = QOSClass(&old.Spec)
	}
	if was != QOSClass(&pod.Spec) {
		e.invalid(p, pod.Status.QOSClass, "Pod QOS Class may not change as a result of resizing")
	}
	for _, c := range old.Status.ContainerStatuses {
		if c.State.Running != nil {
			if c.Resources == nil {
				e.forbidden(p, "Pod running on node without support for resize")
			}
			break
		}
	}
	rest := pod.Spec.DeepCopy()
	resizePod(e, p, rest, pod, old)
	if !sameContainers(e, p, pod, old) {
		return
	}
	resizeContainers(e, p, rest, pod, old)
	resizeVolumes(e, p.Child("volumes"), pod.Spec.Volumes, old.Spec.Volumes)
	rest.Volumes = old.Spec.Volumes
	if len(e.ErrorList) == 0 && !apiequality.Semantic.DeepEqual(*rest, old.Spec) {
		e.forbidden(p, "only cpu and memory resources are mutable")
	}
}

// resizePod checks the resources of the pod as a whole, and sets them in rest to what they were.
func resizePod(e *errs, p loc, rest *corev1.PodSpec, pod, old *corev1.Pod) {
	now, was := pod.Spec.Resources, old.Spec.Resources
	set := func(r *corev1.ResourceRequirements) bool { return r != nil && len(r.Requests)+len(r.Limits) > 0 }
	if !set(now) && !set(was) {
		return
	}
	if was != nil && now == nil {
		e.forbidden(p.Child("resources"), "pod-level resources cannot be removed")
		return
	}
	if was != nil {
		if removed(now.Requests, was.Requests) {
			e.forbidden(p.Child("resources", "requests"), "pod-level resource requests cannot be removed")
		}
		if removed(now.Limits, was.Limits) {
			e.forbidden(p.Child("resources", "limits"), "pod-level resource limits cannot be removed")
		}
	}
	rest.Resources.Requests = withoutResize(rest.Resources.Requests, deref(was).Requests)
	rest.Resources.Limits = withoutResize(rest.Resources.Limits, deref(was).Limits)
	if was == nil && !set(rest.Resources) && len(rest.Resources.Claims) == 0 {
		rest.Resources = nil
	}
	if !apiequality.Semantic.DeepEqual(rest.Resources, was) {
		e.forbidden(p, "only cpu and memory resources are mutable at pod-level")
	}
}

func removed(now, was corev1.ResourceList) bool {
	for name := range was {
		if _, ok := now[name]; !ok {
			return true
		}
	}
	return false
}

// withoutResize returns the list with cpu and memory of the old one.
func withoutResize(now, was corev1.ResourceList) corev1.ResourceList {
	if now == nil && was == nil {
		return nil
	}
	list := maps.Clone(now)
	if list == nil {
		list = corev1.ResourceList{}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		delete(list, name)
		if q, ok := was[name]; ok {
			list[name] = q
		}
	}
	return list
}

func sameContainers(e *errs, p loc, pod, old *corev1.Pod) bool {
	same := true
	for _, list := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", pod.Spec.Containers, old.Spec.Containers}, {"initContainers", pod.Spec.InitContainers, old.Spec.InitContainers}} {
		p := p.Child(list.name)
		if len(list.now) != len(list.was) {
			same = false
			e.forbidden(p, list.name+" may not be added or removed on resize")
			continue
		}
		for i := range list.was {
			if list.now[i].Name != list.was[i].Name {
				same = false
				e.forbidden(p.Index(i).Child("name"), "containers may not be renamed or reordered on resize")
			}
		}
	}
	return same
}

func resizeContainers(e *errs, p loc, rest *corev1.PodSpec, pod, old *corev1.Pod) {
	lost := func(p loc, now, was *corev1.Container) {
		if removed(now.Resources.Requests, was.Resources.Requests) {
			e.forbidden(p.Child("resources", "requests"), "resource requests cannot be removed")
		}
		if removed(now.Resources.Limits, was.Resources.Limits) {
			e.forbidden(p.Child("resources", "limits"), "resource limits cannot be removed")
		}
	}
	reset := func(c, was *corev1.Container) {
		c.Resources = corev1.ResourceRequirements{
			Limits:   withoutResize(c.Resources.Limits, was.Resources.Limits),
			Requests: withoutResize(c.Resources.Requests, was.Resources.Requests),
			Claims:   c.Resources.Claims,
		}
	}
	for i := range old.Spec.InitContainers {
		lost(p.Child("initContainers").Index(i), &pod.Spec.InitContainers[i], &old.Spec.InitContainers[i])
	}
	for i := range old.Spec.Containers {
		lost(p.Child("containers").Index(i), &pod.Spec.Containers[i], &old.Spec.Containers[i])
	}
	for i := range rest.Containers {
		reset(&rest.Containers[i], &old.Spec.Containers[i])
		if !apiequality.Semantic.DeepEqual(rest.Containers[i], old.Spec.Containers[i]) {
			e.forbidden(p, "only cpu and memory resources are mutable")
		}
	}
	for i := range rest.InitContainers {
		c, was, p := &rest.InitContainers[i], &old.Spec.InitContainers[i], p.Child("initContainers").Index(i)
		changed := !apiequality.Semantic.DeepEqual(*c, *was)
		reset(c, was)
		if !apiequality.Semantic.DeepEqual(*c, *was) {
			e.forbidden(p, "only cpu and memory resources for init or sidecar containers are mutable")
		}
		if !changed || sidecar(c) {
			continue
		}
		for _, policy := range c.ResizePolicy {
			if policy.RestartPolicy == corev1.RestartContainer {
				e.forbidden(p, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized")
			}
		}
	}
}

// resizeVolumes checks that only the limits of volumes in memory change, and these only with the feature.
func resizeVolumes(e *errs, p loc, now, was []corev1.Volume) {
	if !e.gates.Enabled(memoryVolumes) {
		if !apiequality.Semantic.DeepEqual(now, was) {
			e.forbidden(p, "volumes are immutable on resize when "+memoryVolumes+" feature gate is disabled")
		}
		return
	}
	if len(now) != len(was) {
		e.forbidden(p, "volumes may not be added or removed on resize")
		return
	}
	set := func(q *resource.Quantity) bool { return q != nil && !q.IsZero() }
	for i := range now {
		p, volume, old := p.Index(i), now[i].DeepCopy(), &was[i]
		both := volume.EmptyDir != nil && old.EmptyDir != nil
		if both {
			volume.EmptyDir.SizeLimit = old.EmptyDir.SizeLimit
		}
		limit := p.Child("emptyDir", "sizeLimit")
		switch {
		case volume.Name != old.Name:
			e.forbidden(p.Child("name"), "volumes may not be renamed or reordered on resize")
		case !apiequality.Semantic.DeepEqual(volume, old):
			e.forbidden(p, "only sizeLimit of memory-backed emptyDir volumes is mutable on resize")
		case both && set(now[i].EmptyDir.SizeLimit) != set(old.EmptyDir.SizeLimit):
			e.forbidden(limit, "adding or removing sizeLimit on an existing volume is not allowed")
		case both && set(old.EmptyDir.SizeLimit) && now[i].EmptyDir.SizeLimit.Cmp(*old.EmptyDir.SizeLimit) != 0 && volume.EmptyDir.Medium != corev1.StorageMediumMemory:
			e.forbidden(limit, "sizeLimit is only mutable for memory-backed emptyDir volumes")
		}
	}
}

const memoryVolumes = "InPlacePodVerticalScalingMemoryBackedVolumes"

// podStatus checks an update by way of the subresource status.
func podStatus(e *errs, pod, old *corev1.Pod) {
	podAnnotationUpdate(e, pod, old)
	p, s, was := field.NewPath("status"), &pod.Status, &old.Status
	for i, condition := range s.Conditions {
		p := p.Child("conditions").Index(i)
		if condition.ObservedGeneration < 0 {
			e.invalid(p.Child("observedGeneration"), condition.ObservedGeneration, "must be a non-negative integer")
		}
		switch condition.Type {
		case corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized:
		default:
			e.qualified(p.Child("Type"), string(condition.Type))
		}
	}
	if pod.Spec.NodeName != old.Spec.NodeName {
		e.forbidden(p.Child("nodeName"), "may not be changed directly")
	}
	if s.NominatedNodeName != was.NominatedNodeName && s.NominatedNodeName != "" {
		e.invalids(p.Child("nominatedNodeName"), s.NominatedNodeName, apivalidation.NameIsDNSSubdomain(s.NominatedNodeName, false))
	}
	if s.NominatedNodeName != was.NominatedNodeName && s.NominatedNodeName != "" && old.Spec.NodeName != "" && e.gates.Enabled("ClearingNominatedNodeNameAfterBinding") {
		e.forbidden(p.Child("nominatedNodeName"), "may not be set on pods that are already bound to a node")
	}
	if s.ObservedGeneration < 0 {
		e.invalid(p.Child("observedGeneration"), s.ObservedGeneration, "must be a non-negative integer")
	}
	e.immutable(p.Child("qosClass"), s.QOSClass, was.QOSClass)
	stateUpdates(e, p.Child("containerStatuses"), s.ContainerStatuses, was.ContainerStatuses, &old.Spec, old.Spec.Containers)
	stateUpdates(e, p.Child("initContainerStatuses"), s.InitContainerStatuses, was.InitContainerStatuses, &old.Spec, old.Spec.InitContainers)
	never := &corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}
	stateUpdates(e, p.Child("ephemeralContainerStatuses"), s.EphemeralContainerStatuses, was.EphemeralContainerStatuses, never, nil)
	claimStatuses(e, p.Child("resourceClaimStatuses"), s.ResourceClaimStatuses, pod.Spec.ResourceClaims)
	extendedClaim(e, p.Child("extendedResourceClaimStatus"), s.ExtendedResourceClaimStatus, &pod.Spec)
	nodeClaims(e, p.Child("nodeAllocatableResourceClaimStatuses"), s, &pod.Spec)
	volumeHealth(e, p.Child("volumeHealth"), s.VolumeHealth, &pod.Spec)
	podIPs(e, p, s, was)
	lists := []statusList{
		{p.Child("containerStatuses"), s.ContainerStatuses, pod.Spec.Containers}, {p.Child("initContainerStatuses"), s.InitContainerStatuses, pod.Spec.InitContainers},
		{p.Child("ephemeralContainerStatuses"), s.EphemeralContainerStatuses, nil},
	}
	for _, list := range lists {
		list.users(e, pod.Spec.OS)
	}
	for _, list := range lists[:2] {
		list.allocated(e, s.ExtendedResourceClaimStatus)
	}
	for i, c := range s.EphemeralContainerStatuses {
		if len(c.AllocatedResourcesStatus) > 0 {
			e.forbidden(lists[2].at.Index(i).Child("allocatedResourcesStatus"), "must not be specified in container status")
		}
	}
	for _, list := range lists {
		list.images(e)
	}
}

// stateUpdates checks that only containers that may be started again leave the state terminated.
func stateUpdates(e *errs, p loc, now, was []corev1.ContainerStatus, spec *corev1.PodSpec, containers []corev1.Container) {
	for i, old := range was {
		j := slices.IndexFunc(now, func(s corev1.ContainerStatus) bool { return s.Name == old.Name })
		if old.State.Terminated == nil || j < 0 || now[j].State.Terminated != nil {
			continue
		}
		k := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == old.Name })
		if k < 0 && spec.RestartPolicy == corev1.RestartPolicyAlways || k >= 0 && restarts(&containers[k], spec, old.State.Terminated.ExitCode) {
			continue
		}
		e.forbidden(p.Index(i).Child("state"), "may not be transitioned to non-terminated state")
	}
}

// restarts reports whether a container that ended is started again: by its rules, else its own policy, else the pod's.
func restarts(c *corev1.Container, spec *corev1.PodSpec, code int32) bool {
	for _, rule := range c.RestartPolicyRules {
		if rule.ExitCodes == nil {
			continue
		}
		if in := slices.Contains(rule.ExitCodes.Values, code); in == (rule.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
			return true
		}
	}
	policy := string(spec.RestartPolicy)
	if c.RestartPolicy != nil {
		policy = string(*c.RestartPolicy)
	}
	return policy == "Always" || policy == "OnFailure" && code != 0
}

func claimStatuses(e *errs, p loc, statuses []corev1.PodResourceClaimStatus, claims []corev1.PodResourceClaim) {
	seen := map[string]bool{}
	for i, s := range statuses {
		p := p.Index(i)
		if !slices.ContainsFunc(claims, func(c corev1.PodResourceClaim) bool { return c.Name == s.Name }) {
			e.invalid(p.Child("name"), s.Name, "must match the name of an entry in `spec.resourceClaims`")
		}
		if seen[s.Name] {
			e.duplicate(p.Child("name"), s.Name)
		}
		seen[s.Name] = true
		if s.ResourceClaimName != nil {
			e.invalids(p.Child("resourceClaimName"), s.ResourceClaimName, apivalidation.NameIsDNSSubdomain(*s.ResourceClaimName, false))
		}
	}
}

func podIPs(e *errs, p loc, s, was *corev1.PodStatus) {
	list := func(p loc, ips, old []string, value any) {
		for i, ip := range ips {
			e.add(validation.IsValidIPForLegacyField(p.Index(i), ip, true, old)...)
		}
		if i := slices.IndexFunc(ips, func(s string) bool { _, ok := address(s); return !ok }); i >= 0 && len(ips) > 1 {
			e.add(field.InternalError(p, fmt.Errorf("failed to check for dual stack with error:invalid IP[%d]: %s", i, ips[i])))
			e.invalid(p, value, "may specify no more than one IP for each IP family")
		} else if len(ips) > 1 && (len(ips) > 2 || !dualStack(ips)) {
			e.invalid(p, value, "may specify no more than one IP for each IP family")
		}
	}
	pods := func(s *corev1.PodStatus) (ips []string) {
		for _, ip := range s.PodIPs {
			ips = append(ips, ip.IP)
		}
		return ips
	}
	hosts := func(s *corev1.PodStatus) (ips []string) {
		for _, ip := range s.HostIPs {
			ips = append(ips, ip.IP)
		}
		return ips
	}
	list(p.Child("podIPs"), pods(s), pods(was), internal{s.PodIPs})
	if set := len(s.PodIPs) > 0; set != (s.PodIP != "") {
		e.invalid(p.Child("podIPs"), internal{s.PodIPs}, "podIP and podIPs must either both be set or both be unset")
	} else if set && s.PodIP != s.PodIPs[0].IP {
		e.invalid(p.Child("podIPs").Index(0).Child("ip"), s.PodIPs[0].IP, "must be equal to `podIP`")
	}
	if len(s.HostIPs) > 0 && s.HostIP != s.HostIPs[0].IP {
		e.invalid(p.Child("hostIPs").Index(0).Child("ip"), s.HostIPs[0].IP, "must be equal to `hostIP`")
	}
	list(p.Child("hostIPs"), hosts(s), hosts(was), internal{s.HostIPs})
}
