package defaults

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// addNetworking adds the rules of networking.k8s.io and discovery.k8s.io.
func addNetworking(r rules) {
	on(r, func(p *networkingv1.NetworkPolicyPort) { pointer(&p.Protocol, corev1.ProtocolTCP) })
	on(r, func(s *networkingv1.NetworkPolicySpec) {
		if len(s.PolicyTypes) > 0 {
			return
		}
		s.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(s.Egress) > 0 {
			s.PolicyTypes = append(s.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	})
	on(r, func(p *networkingv1.IngressClassParametersReference) {
		pointer(&p.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
	})
	on(r, func(p *discoveryv1.EndpointPort) {
		pointer(&p.Name, "")
		pointer(&p.Protocol, corev1.ProtocolTCP)
	})
}
