package validation

import (
	"encoding/json"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

const taintsAnnotation = "scheduler.alpha.kubernetes.io/taints"

// node checks a Node. An update is checked as a new object too, except by way of the subresource status.
func node(e *errs, subresource string, n, old *corev1.Node) {
	meta, spec, status := field.NewPath("metadata"), field.NewPath("spec"), field.NewPath("status")
	if subresource == "" {
		nodeAnnotations(e, meta.Child("annotations"), n.Annotations)
		taints(e, meta.Child("taints"), n.Spec.Taints)
		nodeStatus(e, status, &n.Status)
		if swap := n.Status.NodeInfo.Swap; swap != nil && swap.Capacity != nil {
			e.positive(meta.Child("nodeSwapStatus", "capacity"), *swap.Capacity)
		}
		podCIDRs(e, spec.Child("podCIDRs"), n.Spec.PodCIDRs)
	}
	if old != nil {
		nodeAnnotations(e, meta.Child("annotations"), n.Annotations)
		nodeStatus(e, status, &n.Status)
		nodeUpdate(e, n, old)
	}
}

func nodeStatus(e *errs, p loc, s *corev1.NodeStatus) {
	for _, list := range []struct {
		name string
		list corev1.ResourceList
	}{{"capacity", s.Capacity}, {"allocatable", s.Allocatable}} {
		for _, name := range sorted(list.list) {
			resourceQuantity(e, p.Child(list.name, string(name)), name, list.list[name])
		}
	}
	declaredFeatures(e, p.Child("declaredFeatures"), s.DeclaredFeatures)
}

func nodeUpdate(e *errs, n, old *corev1.Node) {
	meta, spec, status := field.NewPath("metadata"), field.NewPath("spec"), field.NewPath("status")
	addresses := seen[corev1.NodeAddress]{}
	for i, a := range n.Status.Addresses {
		if addresses.again(a) {
			e.duplicate(status.Child("addresses").Index(i), internal{a})
		}
	}
	if was, now := old.Spec.PodCIDRs, n.Spec.PodCIDRs; len(was) > 0 {
		const detail = `node updates may not change podCIDR except from "" to valid`
		if len(was) != len(now) {
			e.forbidden(spec.Child("podCIDRs"), detail)
		} else {
			for i := range was {
				if was[i] != now[i] {
					e.forbidden(spec.Child("podCIDRs"), detail)
				}
			}
		}
	}
	if was, now := old.Spec.ProviderID, n.Spec.ProviderID; was != "" && now == "" {
		e.invalid(spec.Child("providerID"), nil, "field cannot be cleared once set")
	} else if was != "" && was != now {
		e.invalid(spec.Child("providerID"), nil, "field cannot be modified once set")
	}
	taints(e, meta.Child("taints"), n.Spec.Taints)
	if n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		e.forbidden(spec.Child("externalID"), "may not be updated")
	}
}

func nodeAnnotations(e *errs, p loc, annotations map[string]string) {
	value := annotations[taintsAnnotation]
	if value == "" {
		return
	}
	var list []corev1.Taint
	if err := json.Unmarshal([]byte(value), &list); err != nil {
		e.invalid(p, taintsAnnotation, err.Error())
		return
	}
	taints(e, p.Child(taintsAnnotation), list)
}

func declaredFeatures(e *errs, p loc, features []string) {
	pattern := regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$`)
	for i, name := range features {
		if len(name) > 253 {
			e.invalid(p.Index(i), name, fmt.Sprintf("invalid feature name %q: must be no more than 253 characters", name))
		} else if !pattern.MatchString(name) {
			e.invalid(p.Index(i), name, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' "+
				"(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name))
		}
		if i+1 == len(features) {
			return
		}
		if next := features[i+1]; name == next {
			e.duplicate(p.Index(i+1), next)
		} else if name > next {
			e.invalid(p.Index(i+1), next, "list must be sorted alphabetically")
		}
	}
}

func podCIDRs(e *errs, p loc, cidrs []string) {
	for i, cidr := range cidrs {
		e.cidr(p.Index(i), cidr)
	}
	if len(cidrs) < 2 {
		return
	}
	both, err := netutils.IsDualStackCIDRStrings(cidrs)
	if err != nil {
		e.add(field.InternalError(p, fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%w", err)))
	}
	if !both || len(cidrs) > 2 {
		e.invalid(p, cidrs, "may specify no more than one CIDR for each IP family")
	}
}
