package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	resourcehelper "k8s.io/component-helpers/resource"
)

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// native reports whether a resource is one of Kubernetes' own.
func native(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// extended reports whether a resource is one that a device plugin may offer.
func extended(name corev1.ResourceName) bool {
	return !native(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

func overcommit(name corev1.ResourceName) bool { return native(name) && !hugePages(name) }

// integer reports whether there are no fractions of a resource.
func integer(name corev1.ResourceName) bool { return countable(name) || extended(name) }

func countable(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceSecrets,
		corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers:
		return true
	}
	return false
}

func quotaHugePages(name corev1.ResourceName) bool {
	return hugePages(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

// quotaResource reports whether a ResourceQuota may limit a resource that is not qualified.
func quotaResource(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
		corev1.ResourceRequestsStorage, corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
		corev1.ResourceLimitsEphemeralStorage:
		return true
	}
	return countable(name) || quotaHugePages(name)
}

// resourceName checks a name of any resource; it reports whether the name is well-formed.
func resourceName(e *errs, p loc, name corev1.ResourceName) {
	if messages := validation.IsQualifiedName(string(name)); len(messages) > 0 {
		e.invalids(p, name, messages)
	} else if !strings.Contains(string(name), "/") && !quotaResource(name) && name != corev1.ResourceStorage {
		e.invalid(p, name, "must be a standard resource type or fully qualified")
	}
}

func containerResourceName(e *errs, p loc, name corev1.ResourceName) {
	resourceName(e, p, name)
	if !strings.Contains(string(name), "/") {
		switch {
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, hugePages(name):
		default:
			e.invalid(p, name, "must be a standard resource for containers")
		}
	} else if !native(name) && !extended(name) {
		e.invalid(p, name, "doesn't follow extended resource name standard")
	}
}

func podResourceName(e *errs, p loc, name corev1.ResourceName) {
	before := len(e.ErrorList)
	resourceName(e, p, name)
	if len(e.ErrorList) == before && !resourcehelper.IsSupportedPodLevelResource(name) {
		unsupported(e, p, name, corev1.ResourceCPU, corev1.ResourceHugePagesPrefix, corev1.ResourceMemory)
	}
}

func resourceQuantity(e *errs, p loc, name corev1.ResourceName, q resource.Quantity) {
	e.nonNegativeQuantity(p, q)
	if integer(name) && q.MilliValue()%1000 != 0 {
		e.invalid(p, q, "must be an integer")
	}
}

func containerResources(e *errs, p loc, r *corev1.ResourceRequirements, claims map[string]bool) {
	requirements(e, p, r, claims, containerResourceName)
}

func requirements(e *errs, p loc, r *corev1.ResourceRequirements, claims map[string]bool, nameRule func(*errs, loc, corev1.ResourceName)) {
	compute, huge := false, false
	list := func(p loc, list corev1.ResourceList, more func(p loc, name corev1.ResourceName, q resource.Quantity)) {
		for _, name := range sorted(list) {
			p, q := p.Key(string(name)), list[name]
			nameRule(e, p, name)
			resourceQuantity(e, p, name, q)
			more(p, name, q)
			if hugePages(name) {
				huge = true
				e.ratchet("sizes of huge pages", func(e *errs) {
					if !wholePages(name, q) {
						e.invalid(p, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))
					}
				})
			}
			compute = compute || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		}
	}
	list(p.Child("limits"), r.Limits, func(loc, corev1.ResourceName, resource.Quantity) {})
	requests := p.Child("requests")
	list(requests, r.Requests, func(_ loc, name corev1.ResourceName, q resource.Quantity) {
		limit, limited := r.Limits[name]
		switch {
		case limited && q.Cmp(limit) != 0 && !overcommit(name):
			e.invalid(requests, q.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String()))
		case limited && q.Cmp(limit) > 0:
			e.invalid(requests, q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String()))
		case !limited && !overcommit(name):
			e.required(p.Child("limits"), "Limit must be set for non overcommitable resources")
		}
	})
	if huge && !compute {
		e.forbidden(p, "HugePages require cpu or memory")
	}
	resourceClaims(e, p.Child("claims"), r.Claims, claims)
}

// wholePages reports whether a quantity is a multiple of the page size in the resource's name.
func wholePages(name corev1.ResourceName, q resource.Quantity) bool {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	return err == nil && size.Sign() > 0 && size.MilliValue()%1000 == 0 && size.Value() != 0 && q.Value()%size.Value() == 0
}

func resourceClaims(e *errs, p loc, claims []corev1.ResourceClaim, known map[string]bool) {
	names := map[string]bool{}
	for i, claim := range claims {
		p := p.Index(i)
		if claim.Name == "" {
			e.required(p, "")
			continue
		}
		if names[claim.Name] {
			e.duplicate(p, claim.Name)
		} else {
			key := claim.Name
			if claim.Request != "" {
				e.label(p.Child("request"), claim.Request)
				key += "/" + claim.Request
			}
			if names[key] {
				e.duplicate(p, key)
			} else if claim.Request == "" {
				for other := range names {
					if name, _, ok := strings.Cut(other, "/"); ok && name == claim.Name {
						e.duplicate(p, claim.Name)
					}
				}
			}
			names[key] = true
		}
		if !known[claim.Name] {
			e.notFound(p, claim.Name)
			detail := "must be one of the names in pod.spec.resourceClaims"
			if len(known) == 0 {
				detail += " which is empty"
			} else {
				detail += ": " + strings.Join(sorted(known), ", ")
			}
			e.ErrorList[len(e.ErrorList)-1].Detail = detail
		}
	}
}

// podResources checks the resources of a pod as a whole, also against the resources of its containers.
func podResources(e *errs, p loc, pod *podContext) {
	r, p := pod.Resources, p.Child("resources")
	if r == nil {
		return
	}
	if pod.OS != nil && pod.OS.Name == corev1.Windows {
		e.forbidden(p, "may not be set for a windows pod")
		return
	}
	if r.Claims != nil {
		e.forbidden(p.Child("claims"), "claims may not be set for Resources at pod-level")
	}
	requirements(e, p, r, pod.claims, podResourceName)
	whole := &corev1.Pod{Spec: *pod.PodSpec}
	sum := resourcehelper.AggregateContainerRequests(whole, resourcehelper.PodResourcesOptions{})
	for _, name := range sorted(sum) {
		if q, ok := r.Requests[name]; ok {
			if sum := sum[name]; sum.Cmp(q) > 0 {
				e.invalid(p.Child("requests").Key(string(name)), q.String(),
					fmt.Sprintf("must be greater than or equal to aggregate container requests of %s", sum.String()))
			}
		}
	}
	sum = resourcehelper.AggregateContainerLimits(whole, resourcehelper.PodResourcesOptions{})
	for _, name := range sorted(sum) {
		if q, ok := r.Limits[name]; ok && hugePages(name) {
			if sum := sum[name]; sum.Cmp(q) > 0 {
				e.invalid(p.Child("limits").Key(string(name)), q.String(),
					fmt.Sprintf("must be greater than or equal to aggregate container limits of %s", sum.String()))
			}
		}
	}
	for i, c := range pod.Containers {
		for _, name := range sorted(c.Resources.Limits) {
			limit := c.Resources.Limits[name]
			if q, ok := r.Limits[name]; ok && limit.Cmp(q) > 0 {
				e.invalid(p.Child("containers").Index(i).Key(string(name)).Child("limits"), limit.String(),
					fmt.Sprintf("must be less than or equal to pod limits of %s", q.String()))
			}
		}
	}
}

// hasAny reports whether any of the names is a key of the list.
func hasAny(list corev1.ResourceList, names ...corev1.ResourceName) bool {
	return slices.ContainsFunc(names, func(name corev1.ResourceName) bool { _, ok := list[name]; return ok })
}
