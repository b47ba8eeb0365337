package quota

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
)

// deviceClaims returns the evaluator of ResourceClaims. They also count as the extended resource of their class, but for what the Pod
// counts for which a scheduler made the claim.
func deviceClaims(opts Options) *evaluator {
	gr := resourcev1.Resource("resourceclaims")
	count := generic.ObjectCountQuotaResourceNameFor(gr)
	return &evaluator{
		resource: gr,
		handles:  isWrite,
		counts: func(name corev1.ResourceName) bool {
			return name == count || strings.HasSuffix(string(name), corev1.ResourceClaimsPerClass) || countsExtended(name, opts.DeviceClasses())
		},
		inScope: generic.MatchesNoScopeFunc,
		usage: typed(func(c *resourcev1.ResourceClaim) corev1.ResourceList {
			used, classes := corev1.ResourceList{count: one()}, opts.DeviceClasses()
			extended := corev1.ResourceList{}
			for i := range c.Spec.Devices.Requests {
				for class, devices := range mostDevices(&c.Spec.Devices.Requests[i]) {
					add(used, corev1.ResourceName(class+corev1.ResourceClaimsPerClass), devices)
					add(extended, corev1.ResourceName(corev1.ResourceImplicitExtendedClaimsPerClass+class), devices)
					if name := extendedOf(class, classes); name != "" {
						add(extended, corev1.ResourceName(corev1.DefaultResourceRequestsPrefix+name), devices)
					}
				}
			}
			counted := opts.countedByPod(c)
			for name, q := range extended {
				if q.Sub(counted[name]); q.Sign() > 0 {
					used[name] = q
				}
			}
			return used
		}),
	}
}

// countedByPod returns what the Pod uses that owns a claim for its extended resources. Of several claims of a Pod that names none, the
// oldest is its claim.
func (o Options) countedByPod(c *resourcev1.ResourceClaim) corev1.ResourceList {
	owner := metav1.GetControllerOfNoCopy(c)
	if !isExtendedClaim(c) || owner == nil || owner.Kind != "Pod" || owner.APIVersion != "v1" {
		return nil
	}
	pod := o.Pod(c.Namespace, owner.Name)
	if pod == nil || pod.UID != owner.UID {
		return nil
	}
	if named := pod.Status.ExtendedResourceClaimStatus; named != nil && named.ResourceClaimName != c.Name {
		return nil
	} else if named == nil {
		for _, other := range o.ResourceClaims(c.Namespace) {
			of := metav1.GetControllerOfNoCopy(other)
			if !isExtendedClaim(other) || of == nil || of.UID != pod.UID {
				continue
			}
			if d := other.CreationTimestamp.Compare(c.CreationTimestamp.Time); d < 0 || d == 0 && other.Name < c.Name {
				return nil
			}
		}
	}
	return podUsage(pod, o.Clock.Now())
}

// isExtendedClaim reports whether a scheduler made a claim for extended resources.
func isExtendedClaim(c *resourcev1.ResourceClaim) bool {
	return c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true"
}

// countsExtended reports whether a quota for a name is about devices of a class that has an extended resource.
func countsExtended(name corev1.ResourceName, classes []*resourcev1.DeviceClass) bool {
	if class, is := strings.CutPrefix(string(name), corev1.ResourceImplicitExtendedClaimsPerClass); is {
		return extendedOf(class, classes) != ""
	}
	wanted := strings.TrimPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
	if !isExtended(name) {
		return false
	}
	for _, c := range classes {
		if c.Spec.ExtendedResourceName != nil && *c.Spec.ExtendedResourceName == wanted {
			return true
		}
	}
	return false
}

// extendedOf returns the extended resource of a class, or "".
func extendedOf(class string, classes []*resourcev1.DeviceClass) string {
	for _, c := range classes {
		if c.Name == class && c.Spec.ExtendedResourceName != nil {
			return *c.Spec.ExtendedResourceName
		}
	}
	return ""
}

func add(to corev1.ResourceList, name corev1.ResourceName, n int64) {
	q := to[name]
	q.Add(*resource.NewQuantity(n, resource.DecimalSI))
	to[name] = q
}

// mostDevices returns how many devices of each class a request may get: the most of its alternatives.
func mostDevices(r *resourcev1.DeviceRequest) map[string]int64 {
	most := map[string]int64{}
	note := func(class string, mode resourcev1.DeviceAllocationMode, n int64) {
		switch mode {
		case resourcev1.DeviceAllocationModeAll:
			n = resourcev1.AllocationResultsMaxSize
		case resourcev1.DeviceAllocationModeExactCount:
		default:
			n = 0
		}
		most[class] = max(most[class], n)
	}
	if len(r.FirstAvailable) > 0 {
		for _, s := range r.FirstAvailable {
			note(s.DeviceClassName, s.AllocationMode, s.Count)
		}
	} else if e := r.Exactly; e != nil {
		note(e.DeviceClassName, e.AllocationMode, e.Count)
	}
	return most
}
