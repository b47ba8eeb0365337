package scheme

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// createService completes the IP members as a cluster with IPv4 alone does before it allocates an IP (upstream:
// registry/core/service/storage). An allocator has completed them before, by PrepareAllocation.
func createService(s *corev1.Service) {
	pairClusterIPs(&s.Spec)
	completeFamilies(&s.Spec, nil)
	dropInternalPolicy(&s.Spec)
}

// pairClusterIPs makes clusterIPs of a new service follow clusterIP.
func pairClusterIPs(s *corev1.ServiceSpec) {
	if s.ClusterIP != "" && len(s.ClusterIPs) == 0 {
		s.ClusterIPs = []string{s.ClusterIP}
	}
}

// dropInternalPolicy drops the policy that a service of type ExternalName does not have. A kube-apiserver stores it, and drops it
// when it reads the service (upstream: registry/core/service/storage, defaultOnReadInternalTrafficPolicy). The validation
// refuses other values.
func dropInternalPolicy(s *corev1.ServiceSpec) {
	p := s.InternalTrafficPolicy
	if s.Type == corev1.ServiceTypeExternalName && p != nil && (*p == corev1.ServiceInternalTrafficPolicyCluster || *p == corev1.ServiceInternalTrafficPolicyLocal) {
		s.InternalTrafficPolicy = nil
	}
}

// keepNodePorts keeps the node ports that a writer left out, by the names of the ports (upstream: registry/core/service/storage,
// patchAllocatedValues).
func keepNodePorts(now, before *corev1.ServiceSpec) {
	if getsNodePorts(now) && getsNodePorts(before) {
		named, used := map[string]int32{}, map[int32]bool{}
		for _, p := range before.Ports {
			named[p.Name] = p.NodePort
			used[p.NodePort] = slices.ContainsFunc(now.Ports, func(n corev1.ServicePort) bool { return n.NodePort == p.NodePort })
		}
		for i := range now.Ports {
			if p := &now.Ports[i]; p.NodePort == 0 && !used[named[p.Name]] {
				p.NodePort = named[p.Name]
			}
		}
	}
	if hasHealthCheck(now) && hasHealthCheck(before) {
		now.HealthCheckNodePort = cmp.Or(now.HealthCheckNodePort, before.HealthCheckNodePort)
	}
}

// keepClusterIPs keeps the IPs that a writer left out.
func keepClusterIPs(now, before *corev1.ServiceSpec) {
	if now.Type != corev1.ServiceTypeExternalName && before.Type != corev1.ServiceTypeExternalName {
		now.ClusterIP = cmp.Or(now.ClusterIP, before.ClusterIP)
		if len(now.ClusterIPs) == 0 {
			now.ClusterIPs = before.ClusterIPs
		}
	}
}

// followClusterIP makes clusterIPs follow clusterIP.
func followClusterIP(now, before *corev1.ServiceSpec) {
	if len(now.ClusterIPs) == 0 && now.ClusterIP == before.ClusterIP {
		now.ClusterIPs = before.ClusterIPs
	}
	if now.ClusterIP != before.ClusterIP && slices.Equal(now.ClusterIPs, before.ClusterIPs) {
		now.ClusterIPs = nil
		if now.ClusterIP != "" {
			now.ClusterIPs = []string{now.ClusterIP}
		}
	}
}

// completeFamilies sets ipFamilyPolicy and ipFamilies where the writer left them out. A headless service without a selector
// has both families.
func completeFamilies(s, old *corev1.ServiceSpec) {
	if s.Type == corev1.ServiceTypeExternalName {
		return
	}
	free := completePolicy(s, old)
	for i, ip := range s.ClusterIPs {
		if ip != corev1.ClusterIPNone && i == len(s.IPFamilies) {
			s.IPFamilies = append(s.IPFamilies, familyOf(ip))
		}
	}
	if len(s.IPFamilies) == 0 {
		s.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if free && len(s.IPFamilies) == 1 && *s.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack {
		s.IPFamilies = append(s.IPFamilies, otherFamily(s.IPFamilies[0]))
	}
}

// completePolicy sets ipFamilyPolicy where the writer left it out. It reports whether the service is headless and without a selector.
func completePolicy(s, old *corev1.ServiceSpec) (free bool) {
	free = s.ClusterIP == corev1.ClusterIPNone && len(s.Selector) == 0
	if s.IPFamilyPolicy != nil {
		return free
	}
	switch {
	case old != nil && old.IPFamilyPolicy != nil:
		s.IPFamilyPolicy = old.IPFamilyPolicy
	case free:
		s.IPFamilyPolicy = new(corev1.IPFamilyPolicyRequireDualStack)
	default:
		s.IPFamilyPolicy = new(corev1.IPFamilyPolicySingleStack)
	}
	return free
}

// otherFamily returns the other one of the two families.
func otherFamily(f corev1.IPFamily) corev1.IPFamily {
	if f == corev1.IPv4Protocol {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

func familyOf(ip string) corev1.IPFamily {
	if strings.Contains(ip, ":") {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// updateService drops the members that do not apply to the new type of a service and that the writer has not changed
// (upstream: registry/core/service/strategy.go).
func updateService(s, old *corev1.Service) {
	now, before := &s.Spec, &old.Spec
	keepClusterIPs(now, before)
	followClusterIP(now, before)
	completeFamilies(now, before)
	keepNodePorts(now, before)
	if before.Type != corev1.ServiceTypeExternalName && now.Type == corev1.ServiceTypeExternalName {
		if now.ClusterIP == before.ClusterIP && equality.Semantic.DeepEqual(now.ClusterIPs, before.ClusterIPs) {
			now.ClusterIP, now.ClusterIPs = "", nil
		}
		dropSame(&now.IPFamilies, before.IPFamilies)
		dropSame(&now.IPFamilyPolicy, before.IPFamilyPolicy)
	}
	if hasNodePorts(before) && !hasNodePorts(now) && !addsNodePorts(now, before) {
		for i := range now.Ports {
			now.Ports[i].NodePort = 0
		}
	}
	if hasHealthCheck(before) && !hasHealthCheck(now) {
		dropSame(&now.HealthCheckNodePort, before.HealthCheckNodePort)
	}
	if before.Type == corev1.ServiceTypeLoadBalancer && now.Type != corev1.ServiceTypeLoadBalancer {
		dropSame(&now.AllocateLoadBalancerNodePorts, before.AllocateLoadBalancerNodePorts)
		dropSame(&now.LoadBalancerClass, before.LoadBalancerClass)
	}
	if isExternal(before) && !isExternal(now) {
		dropSame(&now.ExternalTrafficPolicy, before.ExternalTrafficPolicy)
	}
	dropInternalPolicy(now)
	if now.Type != corev1.ServiceTypeLoadBalancer {
		s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
}

// dropSame clears a member that equals the old one.
func dropSame[T any](now *T, before T) {
	if equality.Semantic.DeepEqual(*now, before) {
		*now = *new(T)
	}
}

func hasNodePorts(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer
}

// getsNodePorts reports whether a kube-apiserver allocates node ports for a service.
func getsNodePorts(s *corev1.ServiceSpec) bool {
	allocates := s.AllocateLoadBalancerNodePorts
	return hasNodePorts(s) && (s.Type == corev1.ServiceTypeNodePort || allocates == nil || *allocates)
}

// addsNodePorts reports whether now has a node port that before has not.
func addsNodePorts(now, before *corev1.ServiceSpec) bool {
	had := map[int32]bool{0: true}
	for _, p := range before.Ports {
		had[p.NodePort] = true
	}
	for _, p := range now.Ports {
		if !had[p.NodePort] {
			return true
		}
	}
	return false
}

func hasHealthCheck(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// isExternal reports whether a service can be reached from outside of the cluster.
func isExternal(s *corev1.ServiceSpec) bool {
	return hasNodePorts(s) || s.Type == corev1.ServiceTypeClusterIP && len(s.ExternalIPs) > 0
}
