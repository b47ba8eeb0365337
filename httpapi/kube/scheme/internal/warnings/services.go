package warnings

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func service(l *list, o *corev1.Service) {
	spec, s := field.NewPath("spec"), &o.Spec
	if _, ok := o.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok {
		l.add("annotation " + corev1.DeprecatedAnnotationTopologyAwareHints + " is deprecated, please use " + corev1.AnnotationTopologyMode + " instead")
	}
	if s.ClusterIP != "" && s.ClusterIP != corev1.ClusterIPNone {
		for i, ip := range s.ClusterIPs {
			l.ip(spec.Child("clusterIPs").Index(i), ip)
		}
	}
	headless := s.Type == corev1.ServiceTypeClusterIP && s.ClusterIP == corev1.ClusterIPNone
	if headless {
		if s.LoadBalancerIP != "" {
			l.add("spec.loadBalancerIP is ignored for headless services")
		}
		if len(s.ExternalIPs) > 0 {
			l.add("spec.externalIPs is ignored for headless services")
		}
		if s.SessionAffinity != corev1.ServiceAffinityNone {
			l.add("spec.SessionAffinity is ignored for headless services")
		}
	}
	for i, ip := range s.ExternalIPs {
		l.ip(spec.Child("externalIPs").Index(i), ip)
	}
	external := s.Type == corev1.ServiceTypeExternalName
	if len(s.ExternalIPs) > 0 && !headless && !external {
		l.add("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	if s.LoadBalancerIP != "" {
		l.ip(spec.Child("loadBalancerIP"), s.LoadBalancerIP)
	}
	for i, cidr := range s.LoadBalancerSourceRanges {
		l.cidr(spec.Child("loadBalancerSourceRanges").Index(i), cidr)
	}
	if external && len(s.ExternalIPs) > 0 {
		l.add(fmt.Sprintf("spec.externalIPs is ignored when spec.type is %q", s.Type))
	}
	if !external && s.ExternalName != "" {
		l.add(fmt.Sprintf("spec.externalName is ignored when spec.type is not %q", corev1.ServiceTypeExternalName))
	}
	if d := s.TrafficDistribution; d != nil && *d == corev1.ServiceTrafficDistributionPreferClose {
		l.add(fmt.Sprintf("spec.trafficDistribution: %q is deprecated; use %q", *d, corev1.ServiceTrafficDistributionPreferSameZone))
	}
}
