package scheme

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/boxes"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/validation"
	"github.com/kubecoord/kubecoord/store/field"
)

// PrepareAllocation keeps in now what was allocated for old and the writer left out, and sets ipFamilyPolicy and ipFamilies, as a
// kube-apiserver does before it allocates addresses of the families, the default one first (upstream: registry/core/service/storage,
// beginCreate and beginUpdate, initIPFamilyFields). old is nil for a new service, and may share memory with now afterwards.
func PrepareAllocation(now, old *corev1.Service, families []corev1.IPFamily) field.Errors {
	if old != nil {
		keepClusterIPs(&now.Spec, &old.Spec)
		keepNodePorts(&now.Spec, &old.Spec)
		followClusterIP(&now.Spec, &old.Spec)
	} else {
		pairClusterIPs(&now.Spec)
	}
	if now.Spec.Type == corev1.ServiceTypeExternalName || StaysPreferred(now, old) {
		return nil
	}
	var before *corev1.ServiceSpec
	if old != nil {
		before = &old.Spec
	}
	completePolicy(&now.Spec, before)
	if errs := validation.ClusterIPs(now, old); len(errs) > 0 {
		return boxes.Problems(errs)
	}
	if errs := settlePolicy(&now.Spec, before, families); len(errs) > 0 {
		return boxes.Problems(errs)
	}
	return boxes.Problems(settleFamilies(&now.Spec, families))
}

// StaysPreferred reports whether an update leaves the addresses of a service with the policy PreferDualStack: the families of the server
// may be others since they were allocated (upstream: isMatchingPreferDualStackClusterIPFields).
func StaysPreferred(now, old *corev1.Service) bool {
	prefers := func(p *corev1.IPFamilyPolicy) bool { return p != nil && *p == corev1.IPFamilyPolicyPreferDualStack }
	typed := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer}
	return old != nil && now.Spec.Type == old.Spec.Type && slices.Contains(typed, now.Spec.Type) &&
		prefers(now.Spec.IPFamilyPolicy) && (old.Spec.IPFamilyPolicy == nil || prefers(old.Spec.IPFamilyPolicy)) &&
		slices.Equal(now.Spec.ClusterIPs, old.Spec.ClusterIPs) && slices.Equal(now.Spec.IPFamilies, old.Spec.IPFamilies)
}

// settlePolicy compares the policy with the addresses and the families, and adds the families that the addresses have.
func settlePolicy(s, old *corev1.ServiceSpec, families []corev1.IPFamily) (errs upstream.ErrorList) {
	policy := upstream.NewPath("spec", "ipFamilyPolicy")
	refuse := func(detail string) { errs = append(errs, upstream.Invalid(policy, s.IPFamilyPolicy, detail)) }
	single := *s.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	if old != nil && single {
		if len(s.ClusterIPs) > 1 && slices.Equal(old.ClusterIPs, s.ClusterIPs) {
			s.ClusterIPs = s.ClusterIPs[:1]
		}
		if len(s.IPFamilies) > 1 && slices.Equal(old.IPFamilies, s.IPFamilies) {
			s.IPFamilies = s.IPFamilies[:1]
		}
	}
	if old != nil && !single {
		if n := len(s.ClusterIPs); n > 0 && n < len(old.ClusterIPs) {
			refuse("must be 'SingleStack' to release the secondary cluster IP")
		}
		if n := len(s.IPFamilies); n > 0 && n < len(old.IPFamilies) {
			refuse("must be 'SingleStack' to release the secondary IP family")
		}
	}
	if single && len(s.ClusterIPs) == 2 {
		refuse("must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified")
	}
	if single && len(s.IPFamilies) == 2 {
		refuse("must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified")
	}
	for i, ip := range s.ClusterIPs {
		if ip == corev1.ClusterIPNone {
			break
		}
		if i < len(s.IPFamilies) {
			continue
		}
		if family := familyOf(ip); slices.Contains(families, family) {
			s.IPFamilies = append(s.IPFamilies, family)
		} else {
			errs = append(errs, upstream.Invalid(upstream.NewPath("spec", "clusterIPs").Index(i), s.ClusterIPs, fmt.Sprintf("%s is not configured on this cluster", family)))
		}
	}
	return errs
}

// settleFamilies sets the families that are left.
func settleFamilies(s *corev1.ServiceSpec, families []corev1.IPFamily) (errs upstream.ErrorList) {
	single := *s.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	free := s.ClusterIP == corev1.ClusterIPNone && len(s.Selector) == 0
	if !free {
		if *s.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack && len(families) < 2 {
			errs = append(errs, upstream.Invalid(upstream.NewPath("spec", "ipFamilyPolicy"), s.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
		}
		for i, family := range s.IPFamilies {
			if !slices.Contains(families, family) {
				errs = append(errs, upstream.Invalid(upstream.NewPath("spec", "ipFamilies").Index(i), family, "not configured on this cluster"))
			}
		}
		if len(errs) > 0 {
			return errs
		}
	}
	if len(s.IPFamilies) == 0 {
		s.IPFamilies = []corev1.IPFamily{families[0]}
	}
	if !single && len(s.IPFamilies) == 1 && (free || len(families) == 2) {
		s.IPFamilies = append(s.IPFamilies, otherFamily(s.IPFamilies[0]))
	}
	return nil
}
