package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func service(e *errs, subresource string, s, old *corev1.Service) {
	if subresource == "status" {
		var was *corev1.LoadBalancerStatus
		if old != nil {
			was = &old.Status.LoadBalancer
		}
		loadBalancerStatus(e, field.NewPath("status", "loadBalancer", "ingress"), s, was)
		return
	}
	if old != nil {
		clusterIPUpdate(e, s, old)
		familyUpdate(e, s, old)
		if s.Spec.Type == corev1.ServiceTypeLoadBalancer && old.Spec.Type == s.Spec.Type &&
			(s.Spec.LoadBalancerClass == nil) != (old.Spec.LoadBalancerClass == nil) || deref(s.Spec.LoadBalancerClass) != deref(old.Spec.LoadBalancerClass) &&
			s.Spec.Type == corev1.ServiceTypeLoadBalancer && old.Spec.Type == s.Spec.Type {
			e.invalid(field.NewPath("spec", "loadBalancerClass"), s.Spec.LoadBalancerClass, "may not change once set")
		}
		balancerClass(e, &s.Spec)
		if needsHealthCheck(&s.Spec) && needsHealthCheck(&old.Spec) && s.Spec.HealthCheckNodePort != old.Spec.HealthCheckNodePort {
			e.forbidden(field.NewPath("spec", "healthCheckNodePort"), "field is immutable")
		}
	}
	serviceSpec(e, field.NewPath("spec"), s, old)
}

func headless(s *corev1.ServiceSpec) bool {
	return len(s.ClusterIPs) == 1 && s.ClusterIPs[0] == corev1.ClusterIPNone
}

func outside(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer || s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeClusterIP && len(s.ExternalIPs) > 0
}

func needsHealthCheck(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

func serviceSpec(e *errs, p loc, o, old *corev1.Service) {
	s := &o.Spec
	mode, moded := o.Annotations[corev1.AnnotationTopologyMode]
	if hints, ok := o.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok && moded && mode != hints {
		e.invalid(field.NewPath("metadata", "annotations").Key(corev1.AnnotationTopologyMode), mode,
			fmt.Sprintf("must match annotations[%s] when both are specified", corev1.DeprecatedAnnotationTopologyAwareHints))
	}
	if len(s.Ports) == 0 && !headless(s) && s.Type != corev1.ServiceTypeExternalName {
		e.required(p.Child("ports"), "")
	}
	switch s.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if headless(s) {
			e.invalid(p.Child("clusterIPs").Index(0), s.ClusterIPs[0], fmt.Sprintf("may not be set to 'None' for %s services", s.Type))
		}
	case corev1.ServiceTypeExternalName:
		externalName(e, p, s)
	}
	names := map[string]bool{}
	for i := range s.Ports {
		servicePort(e, p.Child("ports").Index(i), &s.Ports[i], len(s.Ports) > 1, names)
	}
	if s.Selector != nil {
		e.labels(p.Child("selector"), s.Selector)
	}
	requiredOneOf(e, p.Child("sessionAffinity"), s.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)
	affinityConfig(e, p.Child("sessionAffinityConfig"), s)
	clusterIPs(e, p, s, old)
	var was []string
	if old != nil {
		was = old.Spec.ExternalIPs
	}
	for i, ip := range s.ExternalIPs {
		p := p.Child("externalIPs").Index(i)
		if list := validation.IsValidIPForLegacyField(p, ip, true, was); len(list) > 0 {
			e.add(list...)
		} else {
			endpointIP(e, p, ip)
		}
	}
	requiredOneOf(e, p.Child("type"), s.Type, corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)
	nodePorts(e, p.Child("ports"), s)
	sourceRanges(e, p, o, old)
	balanced := s.Type == corev1.ServiceTypeLoadBalancer
	if s.AllocateLoadBalancerNodePorts != nil && !balanced {
		e.forbidden(p.Child("allocateLoadBalancerNodePorts"), "may only be used when `type` is 'LoadBalancer'")
	}
	if s.AllocateLoadBalancerNodePorts == nil && balanced {
		e.required(field.NewPath("allocateLoadBalancerNodePorts"), "")
	}
	balancerClass(e, s)
	trafficPolicies(e, p, s)
}

func externalName(e *errs, p loc, s *corev1.ServiceSpec) {
	const detail = "may not be set for ExternalName services"
	if len(s.ClusterIPs) > 0 {
		e.forbidden(p.Child("clusterIPs"), detail)
	}
	if len(s.IPFamilies) > 0 {
		e.forbidden(p.Child("ipFamilies"), detail)
	}
	if s.IPFamilyPolicy != nil {
		e.forbidden(p.Child("ipFamilyPolicy"), detail)
	}
	if name := strings.TrimSuffix(s.ExternalName, "."); name == "" {
		e.required(p.Child("externalName"), "")
	} else {
		e.subdomain(p.Child("externalName"), name)
	}
}

func servicePort(e *errs, p loc, port *corev1.ServicePort, named bool, names map[string]bool) {
	if named && port.Name == "" {
		e.required(p.Child("name"), "")
	} else if port.Name != "" {
		e.label(p.Child("name"), port.Name)
		if names[port.Name] {
			e.duplicate(p.Child("name"), port.Name)
		}
		names[port.Name] = true
	}
	e.port(p.Child("port"), port.Port)
	protocol(e, p.Child("protocol"), port.Protocol)
	e.portOrName(p.Child("targetPort"), port.TargetPort)
	if port.AppProtocol != nil {
		e.qualified(p.Child("appProtocol"), *port.AppProtocol)
	}
}

func affinityConfig(e *errs, p loc, s *corev1.ServiceSpec) {
	const missing = "when session affinity type is ClientIP"
	config := s.SessionAffinityConfig
	switch {
	case s.SessionAffinity == corev1.ServiceAffinityNone && config != nil:
		e.forbidden(p, "must not be set when session affinity is None")
	case s.SessionAffinity != corev1.ServiceAffinityClientIP:
	case config == nil:
		e.required(p, missing)
	case config.ClientIP == nil:
		e.required(p.Child("clientIP"), missing)
	case config.ClientIP.TimeoutSeconds == nil:
		e.required(p.Child("clientIP", "timeoutSeconds"), missing)
	default:
		if n := config.ClientIP.TimeoutSeconds; *n <= 0 || *n > 86400 {
			e.invalid(p.Child("clientIP", "timeoutSeconds"), n, "must be greater than 0 and less than 86400")
		}
	}
}

// endpointIP checks an address that traffic is sent to.
func endpointIP(e *errs, p loc, s string) {
	ip, ok := address(s)
	switch {
	case !ok:
		e.invalid(p, s, "must be a valid IP address")
		return
	case ip.IsUnspecified():
		e.invalid(p, s, fmt.Sprintf("may not be unspecified (%v)", s))
	}
	if ip.IsLoopback() {
		e.invalid(p, s, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	}
	if ip.IsLinkLocalUnicast() {
		e.invalid(p, s, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	}
	if ip.IsLinkLocalMulticast() {
		e.invalid(p, s, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
}

// ClusterIPs returns the errors of the addresses of a service and of their families.
func ClusterIPs(s, old *corev1.Service) field.ErrorList {
	e := &errs{}
	clusterIPs(e, field.NewPath("spec"), &s.Spec, old)
	return e.ErrorList
}

func clusterIPs(e *errs, p loc, s *corev1.ServiceSpec, old *corev1.Service) {
	if s.Type == corev1.ServiceTypeExternalName {
		return
	}
	ips, families := p.Child("clusterIPs"), p.Child("ipFamilies")
	switch {
	case s.ClusterIP != "" && len(s.ClusterIPs) == 0:
		e.required(ips, "")
	case s.ClusterIP != "" && s.ClusterIPs[0] != s.ClusterIP:
		e.invalid(ips, s.ClusterIPs, "first value must match `clusterIP`")
	case s.ClusterIP == "" && len(s.ClusterIPs) > 0:
		e.invalid(ips, s.ClusterIPs, "must be empty when `clusterIP` is not specified")
	}
	for i, family := range s.IPFamilies {
		oneOf(e, families.Index(i), family, corev1.IPv4Protocol, corev1.IPv6Protocol)
		if slices.Contains(s.IPFamilies[:i], family) {
			e.duplicate(families.Index(i), family)
		}
	}
	optionalOneOf(e, p.Child("ipFamilyPolicy"), s.IPFamilyPolicy, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack)
	var was []string
	if old != nil {
		was = old.Spec.ClusterIPs
	}
	before := len(e.ErrorList)
	for i, ip := range s.ClusterIPs {
		if i == 0 && ip == corev1.ClusterIPNone {
			if len(s.ClusterIPs) > 1 {
				e.invalid(ips, s.ClusterIPs, "'None' must be the first and only value")
			}
			continue
		}
		e.add(validation.IsValidIPForLegacyField(ips.Index(i), ip, true, was)...)
	}
	bad := len(e.ErrorList) > before
	if len(s.ClusterIPs) > 2 {
		e.invalid(ips, s.ClusterIPs, "may only hold up to 2 values")
	}
	if bad {
		return
	}
	if len(s.ClusterIPs) > 1 && !dualStack(s.ClusterIPs) {
		e.invalid(ips, s.ClusterIPs, "may specify no more than one IP for each IP family")
	}
	if headless(s) {
		return
	}
	for i, ip := range s.ClusterIPs {
		if i >= len(s.IPFamilies) {
			break
		}
		if family := s.IPFamilies[i]; family == corev1.IPv4Protocol && isIPv6(ip) || family == corev1.IPv6Protocol && !isIPv6(ip) {
			e.invalid(ips.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%v]`", family, i))
		}
	}
}

func nodePorts(e *errs, p loc, s *corev1.ServiceSpec) {
	type key struct {
		protocol corev1.Protocol
		port     int32
	}
	for i, port := range s.Ports {
		if s.Type == corev1.ServiceTypeClusterIP && port.NodePort != 0 {
			e.forbidden(p.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'")
		}
	}
	seen := map[key]bool{}
	for i, port := range s.Ports {
		k := key{port.Protocol, port.NodePort}
		if port.NodePort != 0 && seen[k] {
			e.duplicate(p.Index(i).Child("nodePort"), port.NodePort)
		}
		seen[k] = true
	}
	clear(seen)
	for i, port := range s.Ports {
		k := key{port.Protocol, port.Port}
		if seen[k] {
			e.duplicate(p.Index(i), internal{corev1.ServicePort{Protocol: port.Protocol, Port: port.Port}})
		}
		seen[k] = true
	}
}

func sourceRanges(e *errs, p loc, o, old *corev1.Service) {
	const detail = "may only be used when `type` is 'LoadBalancer'"
	balanced := o.Spec.Type == corev1.ServiceTypeLoadBalancer
	if len(o.Spec.LoadBalancerSourceRanges) > 0 {
		p = p.Child("LoadBalancerSourceRanges")
		if !balanced {
			e.forbidden(p, detail)
		}
		var was []string
		if old != nil {
			for _, cidr := range old.Spec.LoadBalancerSourceRanges {
				was = append(was, strings.TrimSpace(cidr))
			}
		}
		for i, cidr := range o.Spec.LoadBalancerSourceRanges {
			e.add(validation.IsValidCIDRForLegacyField(p.Index(i), strings.TrimSpace(cidr), true, was)...)
		}
		return
	}
	value, ok := o.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	if !ok {
		return
	}
	p = field.NewPath("metadata", "annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
	if !balanced {
		e.forbidden(p, detail)
	}
	if old != nil && old.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey] == value {
		return
	}
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	for cidr := range strings.SplitSeq(value, ",") {
		e.cidr(p, strings.TrimSpace(cidr))
	}
}

func balancerClass(e *errs, s *corev1.ServiceSpec) {
	if s.LoadBalancerClass == nil {
		return
	}
	p := field.NewPath("spec", "loadBalancerClass")
	if s.Type == corev1.ServiceTypeLoadBalancer {
		e.qualified(p, *s.LoadBalancerClass)
	} else {
		e.forbidden(p, "may only be used when `type` is 'LoadBalancer'")
	}
}

func trafficPolicies(e *errs, p loc, s *corev1.ServiceSpec) {
	external, health := p.Child("externalTrafficPolicy"), p.Child("healthCheckNodePort")
	if outside(s) {
		requiredOneOf(e, external, s.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)
	} else if s.ExternalTrafficPolicy != "" {
		e.invalid(external, s.ExternalTrafficPolicy, "may only be set for externally-accessible services")
	}
	switch needs, port := needsHealthCheck(s), s.HealthCheckNodePort; {
	case !needs && port != 0:
		e.invalid(health, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	case needs && port == 0:
		e.required(health, "")
	case needs:
		e.port(health, port)
	}
	inner := p.Child("internalTrafficPolicy")
	switch s.Type {
	case corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeClusterIP:
		if s.InternalTrafficPolicy == nil {
			e.required(inner, "")
		}
	}
	optionalOneOf(e, inner, s.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)
	optionalOneOf(e, p.Child("trafficDistribution"), s.TrafficDistribution, corev1.ServiceTrafficDistributionPreferClose,
		corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)
}

// clusterIPUpdate checks that addresses stay: only a second one may be added or released.
func clusterIPUpdate(e *errs, o, old *corev1.Service) {
	s, was := &o.Spec, &old.Spec
	if s.Type == corev1.ServiceTypeExternalName || was.Type == corev1.ServiceTypeExternalName || headless(s) && headless(was) {
		return
	}
	p := field.NewPath("spec", "clusterIPs")
	switch n := len(s.ClusterIPs); {
	case len(was.ClusterIPs) == n:
		for i, ip := range was.ClusterIPs {
			if ip != s.ClusterIPs[i] {
				e.invalid(p.Index(i), s.ClusterIPs, "may not change once set")
			}
		}
	case len(was.ClusterIPs) > n:
		if n == 0 {
			e.invalid(p.Index(0), s.ClusterIPs, "primary clusterIP can not be unset")
		} else if s.ClusterIPs[0] != was.ClusterIPs[0] {
			e.invalid(p.Index(0), s.ClusterIPs, "may not change once set")
		}
		if n == 1 && (s.IPFamilyPolicy == nil || *s.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack) {
			e.invalid(field.NewPath("spec", "ipFamilyPolicy"), s.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary clusterIP")
		}
	default:
		if len(was.ClusterIPs) > 0 && s.ClusterIPs[0] != was.ClusterIPs[0] {
			e.invalid(p.Index(0), s.ClusterIPs, "may not change once set")
		}
	}
}

func familyUpdate(e *errs, o, old *corev1.Service) {
	s, was := &o.Spec, &old.Spec
	if s.Type == corev1.ServiceTypeExternalName || was.Type == corev1.ServiceTypeExternalName || headless(s) {
		return
	}
	p := field.NewPath("spec", "ipFamilies").Index(0)
	switch n := len(s.IPFamilies); {
	case len(was.IPFamilies) == n:
		for i, family := range was.IPFamilies {
			if family != s.IPFamilies[i] {
				e.invalid(p, s.IPFamilies, "may not change once set")
			}
		}
	case len(was.IPFamilies) > n:
		if len(s.ClusterIPs) == 0 {
			e.invalid(p, s.IPFamilies, "primary ipFamily can not be unset")
		}
		if n > 0 && s.IPFamilies[0] != was.IPFamilies[0] {
			e.invalid(p, s.ClusterIPs, "may not change once set")
		}
		if n == 1 && (s.IPFamilyPolicy == nil || *s.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack) {
			e.invalid(field.NewPath("spec", "ipFamilyPolicy"), s.IPFamilyPolicy, "must be set to 'SingleStack' when releasing the secondary ipFamily")
		}
	default:
		if len(was.IPFamilies) > 0 && s.IPFamilies[0] != was.IPFamilies[0] {
			e.invalid(p, s.ClusterIPs, "may not change once set")
		}
	}
}

func loadBalancerStatus(e *errs, p loc, s *corev1.Service, old *corev1.LoadBalancerStatus) {
	ingress := s.Status.LoadBalancer.Ingress
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		if len(ingress) > 0 {
			e.forbidden(p, "may only be used when `spec.type` is 'LoadBalancer'")
		}
		return
	}
	var was []string
	for _, in := range deref(old).Ingress {
		if in.IP != "" {
			was = append(was, in.IP)
		}
	}
	for i, in := range ingress {
		p := p.Index(i)
		if in.IP != "" {
			e.add(validation.IsValidIPForLegacyField(p.Child("ip"), in.IP, true, was)...)
		}
		switch mode := p.Child("ipMode"); {
		case in.IPMode == nil && in.IP != "":
			e.required(mode, "must be specified when `ip` is set")
		case in.IPMode != nil && in.IP == "":
			e.forbidden(mode, "may not be specified when `ip` is not set")
		case in.IPMode != nil:
			oneOf(e, mode, *in.IPMode, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP)
		}
		hostName(e, p.Child("hostname"), in.Hostname)
	}
}

// hostName checks the name in the status of a load balancer.
func hostName(e *errs, p loc, name string) {
	if name == "" {
		return
	}
	e.subdomain(p, name)
	if _, ok := address(name); ok {
		e.invalid(p, name, "must be a DNS name, not an IP address")
	}
}
