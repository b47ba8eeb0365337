package scheme

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// updateService drops the members that do not apply to the new type of a service and that the writer has not changed
// (upstream: registry/core/service/strategy.go).
func updateService(s, old *corev1.Service) {
	now, before := &s.Spec, &old.Spec
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
