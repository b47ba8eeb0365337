package validation

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateNetworking(e *errs, subresource string, obj, old runtime.Object) bool {
	p := field.NewPath("spec")
	switch o := obj.(type) {
	case *networkingv1.Ingress:
		if was := kindOf[networkingv1.Ingress](old); subresource == "status" {
			ingressStatus(e, field.NewPath("status", "loadBalancer", "ingress"), o, was)
		} else {
			ingressSpec(e, p, &o.Spec, was)
			const class = "kubernetes.io/ingress.class"
			value, ok := o.Annotations[class]
			if name := o.Spec.IngressClassName; was == nil && ok && name != nil && *name != value {
				e.invalid(field.NewPath("annotations").Child(class), value, "must match `ingressClassName` when both are specified")
			}
		}
	case *networkingv1.IngressClass:
		if was := kindOf[networkingv1.IngressClass](old); was != nil {
			e.immutable(p.Child("controller"), o.Spec.Controller, was.Spec.Controller)
		}
		ingressClass(e, p, &o.Spec)
	case *networkingv1.NetworkPolicy:
		networkPolicy(e, p, &o.Spec, kindOf[networkingv1.NetworkPolicy](old))
	case *networkingv1.IPAddress:
		ipAddress(e, p.Child("parentRef"), o.Spec.ParentRef)
	case *networkingv1.ServiceCIDR:
		if subresource == "" {
			serviceCIDR(e, p.Child("cidrs"), o.Spec.CIDRs, kindOf[networkingv1.ServiceCIDR](old))
		}
	default:
		return false
	}
	return true
}

func ingressSpec(e *errs, p loc, s *networkingv1.IngressSpec, old *networkingv1.Ingress) {
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		e.invalid(p, internal{s.Rules}, "either `defaultBackend` or `rules` must be specified")
	}
	if s.DefaultBackend != nil {
		backend(e, p.Child("defaultBackend"), s.DefaultBackend)
	}
	for i := range s.Rules {
		r, p := &s.Rules[i], p.Child("rules").Index(i)
		wildcard := strings.Contains(r.Host, "*")
		if r.Host != "" {
			if _, ok := address(r.Host); ok {
				e.invalid(p.Child("host"), r.Host, "must be a DNS name, not an IP address")
			}
			hostPattern(e, p.Child("host"), r.Host)
		}
		if paths := p.Child("http", "paths"); r.HTTP != nil && wildcard {
			e.ratchet("rules for wildcards", func(e *errs) { ingressPaths(e, paths, r.HTTP.Paths) })
		} else if r.HTTP != nil {
			ingressPaths(e, paths, r.HTTP.Paths)
		}
	}
	for i, tls := range s.TLS {
		p := p.Child("tls").Index(i)
		for j, host := range tls.Hosts {
			hostPattern(e, p.Child("hosts").Index(j), host)
		}
		if tls.SecretName != "" {
			e.invalids(p.Child("secretName"), tls.SecretName, apivalidation.NameIsDNSSubdomain(tls.SecretName, false))
		}
	}
	if name := s.IngressClassName; name != nil {
		className(e, p.Child("ingressClassName"), *name)
	}
}

func hostPattern(e *errs, p loc, host string) {
	if strings.Contains(host, "*") {
		e.invalids(p, host, validation.IsWildcardDNS1123Subdomain(host))
	} else {
		e.subdomain(p, host)
	}
}

func ingressPaths(e *errs, p loc, paths []networkingv1.HTTPIngressPath) {
	if len(paths) == 0 {
		e.required(p, "")
	}
	for i := range paths {
		ingressPath(e, p.Index(i), &paths[i])
	}
}

func ingressPath(e *errs, p loc, o *networkingv1.HTTPIngressPath) {
	at := p.Child("path")
	switch {
	case o.PathType == nil:
		e.required(p.Child("pathType"), "pathType must be specified")
		return
	case *o.PathType == networkingv1.PathTypeExact, *o.PathType == networkingv1.PathTypePrefix:
		if !strings.HasPrefix(o.Path, "/") {
			e.invalid(at, o.Path, "must be an absolute path")
		}
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(o.Path, bad) {
				e.invalid(at, o.Path, fmt.Sprintf("must not contain '%s'", bad))
			}
		}
		for _, bad := range []string{"/..", "/."} {
			if strings.HasSuffix(o.Path, bad) {
				e.invalid(at, o.Path, fmt.Sprintf("cannot end with '%s'", bad))
			}
		}
	case *o.PathType == networkingv1.PathTypeImplementationSpecific:
		if o.Path != "" && !strings.HasPrefix(o.Path, "/") {
			e.invalid(at, o.Path, "must be an absolute path")
		}
	default:
		unsupported(e, p.Child("pathType"), *o.PathType, networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix)
	}
	backend(e, p.Child("backend"), &o.Backend)
}

func backend(e *errs, p loc, b *networkingv1.IngressBackend) {
	switch {
	case b.Resource != nil && b.Service != nil:
		e.invalid(p, "", "cannot set both resource and service backends")
		return
	case b.Resource != nil:
		localReference(e, p.Child("resource"), b.Resource.APIGroup, b.Resource.Kind, b.Resource.Name, requiredSegment)
		return
	case b.Service == nil:
		e.invalid(p, "", "resource or service backend is required")
		return
	}
	if name := b.Service.Name; name == "" {
		e.required(p.Child("service", "name"), "")
	} else {
		e.invalids(p.Child("service", "name"), name, apivalidation.NameIsDNSLabel(name, false))
	}
	switch port := b.Service.Port; {
	case port.Name != "" && port.Number != 0:
		e.invalid(p, "", "cannot set both port name & port number")
	case port.Name != "":
		e.invalids(p.Child("service", "port", "name"), port.Name, validation.IsValidPortName(port.Name))
	case port.Number != 0:
		e.port(p.Child("service", "port", "number"), port.Number)
	default:
		e.required(p, "port name or number is required")
	}
}

// localReference checks a reference to an object of any kind.
func localReference(e *errs, p loc, group *string, kind, name string, segment func(e *errs, p loc, value string)) {
	if group != nil {
		e.subdomain(p.Child("apiGroup"), *group)
	}
	segment(e, p.Child("kind"), kind)
	segment(e, p.Child("name"), name)
}

// requiredSegment is like segment, but a value that was left out is required.
func requiredSegment(e *errs, p loc, value string) {
	e.present(p, value)
	segment(e, p, value)
}

// segment checks a value that is part of a URL's path.
func segment(e *errs, p loc, value string) {
	if value != "" {
		e.invalids(p, value, path.IsValidPathSegmentName(value))
	}
}

func ingressStatus(e *errs, p loc, o, old *networkingv1.Ingress) {
	var was []string
	if old != nil {
		for _, in := range old.Status.LoadBalancer.Ingress {
			if in.IP != "" {
				was = append(was, in.IP)
			}
		}
	}
	for i, in := range o.Status.LoadBalancer.Ingress {
		p := p.Index(i)
		if in.IP != "" {
			e.add(validation.IsValidIPForLegacyField(p.Child("ip"), in.IP, true, was)...)
		}
		hostName(e, p.Child("hostname"), in.Hostname)
	}
}

func ingressClass(e *errs, p loc, s *networkingv1.IngressClassSpec) {
	if len(s.Controller) > 250 {
		e.tooLong(p.Child("controller"), 250)
	}
	e.add(validation.IsDomainPrefixedPath(p.Child("controller"), s.Controller)...)
	ref := s.Parameters
	if ref == nil {
		return
	}
	p = p.Child("parameters")
	localReference(e, p, ref.APIGroup, ref.Kind, ref.Name, segment)
	if ref.Scope == nil {
		e.required(p.Child("scope"), "")
		return
	}
	const cluster, namespaced = networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace
	oneOf(e, p.Child("scope"), *ref.Scope, cluster, namespaced)
	switch namespace := p.Child("namespace"); {
	case *ref.Scope == namespaced && ref.Namespace == nil:
		e.required(namespace, "`parameters.scope` is set to 'Namespace'")
	case *ref.Scope == namespaced:
		e.invalids(namespace, *ref.Namespace, apivalidation.ValidateNamespaceName(*ref.Namespace, false))
	case *ref.Scope == cluster && ref.Namespace != nil:
		e.forbidden(namespace, "`parameters.scope` is set to 'Cluster'")
	}
}

func networkPolicy(e *errs, p loc, s *networkingv1.NetworkPolicySpec, old *networkingv1.NetworkPolicy) {
	var kept []string // ranges that may stay although they are not valid
	if old != nil {
		for _, in := range old.Spec.Ingress {
			kept = append(kept, ranges(in.From)...)
		}
		for _, out := range old.Spec.Egress {
			kept = append(kept, ranges(out.To)...)
		}
	}
	e.selector(p.Child("podSelector"), &s.PodSelector)
	rule := func(p loc, ports []networkingv1.NetworkPolicyPort, peers string, list []networkingv1.NetworkPolicyPeer) {
		for i := range ports {
			policyPort(e, p.Child("ports").Index(i), &ports[i])
		}
		for i := range list {
			policyPeer(e, p.Child(peers).Index(i), &list[i], kept)
		}
	}
	for i, in := range s.Ingress {
		rule(p.Child("ingress").Index(i), in.Ports, "from", in.From)
	}
	for i, out := range s.Egress {
		rule(p.Child("egress").Index(i), out.Ports, "to", out.To)
	}
	if len(s.PolicyTypes) > 2 {
		e.invalid(p.Child("policyTypes"), s.PolicyTypes, "may not specify more than two policyTypes")
		return
	}
	for i, kind := range s.PolicyTypes {
		oneOf(e, p.Child("policyTypes").Index(i), kind, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
	}
}

func ranges(peers []networkingv1.NetworkPolicyPeer) (cidrs []string) {
	for _, peer := range peers {
		if peer.IPBlock != nil {
			cidrs = append(append(cidrs, peer.IPBlock.CIDR), peer.IPBlock.Except...)
		}
	}
	return cidrs
}

func policyPort(e *errs, p loc, o *networkingv1.NetworkPolicyPort) {
	optionalOneOf(e, p.Child("protocol"), o.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	end := p.Child("endPort")
	switch {
	case o.Port == nil:
		if o.EndPort != nil {
			e.invalid(end, *o.EndPort, "may not be specified when `port` is not specified")
		}
	case o.Port.Type == intstr.String:
		if o.EndPort != nil {
			e.invalid(end, *o.EndPort, "may not be specified when `port` is non-numeric")
		}
		e.invalids(p.Child("port"), o.Port.StrVal, validation.IsValidPortName(o.Port.StrVal))
	default:
		e.port(p.Child("port"), o.Port.IntVal)
		if o.EndPort == nil {
			return
		}
		if *o.EndPort < o.Port.IntVal {
			e.invalid(end, *o.EndPort, "must be greater than or equal to `port`")
		}
		e.port(end, *o.EndPort)
	}
}

func policyPeer(e *errs, p loc, peer *networkingv1.NetworkPolicyPeer, kept []string) {
	if peer.PodSelector != nil {
		e.selector(p.Child("podSelector"), peer.PodSelector)
	}
	if peer.NamespaceSelector != nil {
		e.selector(p.Child("namespaceSelector"), peer.NamespaceSelector)
	}
	if peer.IPBlock != nil {
		ipBlock(e, p.Child("ipBlock"), peer.IPBlock, kept)
	}
	switch selected := peer.PodSelector != nil || peer.NamespaceSelector != nil; {
	case !selected && peer.IPBlock == nil:
		e.required(p, "must specify a peer")
	case selected && peer.IPBlock != nil:
		e.forbidden(p, "may not specify both ipBlock and another peer")
	}
}

func ipBlock(e *errs, p loc, b *networkingv1.IPBlock, kept []string) {
	if b.CIDR == "" {
		return
	}
	e.add(validation.IsValidCIDRForLegacyField(p.Child("cidr"), b.CIDR, true, kept)...)
	whole, err := netip.ParsePrefix(b.CIDR)
	if err != nil {
		return
	}
	for i, cidr := range b.Except {
		p := p.Child("except").Index(i)
		e.add(validation.IsValidCIDRForLegacyField(p, cidr, true, kept)...)
		if except, err := netip.ParsePrefix(cidr); err == nil && (!whole.Contains(except.Masked().Addr()) || whole.Bits() >= except.Bits()) {
			e.invalid(p, cidr, "must be a strict subset of `cidr`")
		}
	}
}

func ipAddress(e *errs, p loc, ref *networkingv1.ParentReference) {
	if ref == nil {
		return
	}
	if ref.Group != "" {
		e.subdomain(p.Child("group"), ref.Group)
	}
	e.covered("", func(e *errs) { e.present(p.Child("resource"), ref.Resource) })
	segment(e, p.Child("resource"), ref.Resource)
	e.covered("", func(e *errs) { e.present(p.Child("name"), ref.Name) })
	segment(e, p.Child("name"), ref.Name)
	segment(e, p.Child("namespace"), ref.Namespace)
}

func serviceCIDR(e *errs, p loc, cidrs []string, old *networkingv1.ServiceCIDR) {
	if old != nil {
		was := old.Spec.CIDRs
		switch {
		case len(was) == len(cidrs):
			for i := range was {
				if was[i] != cidrs[i] {
					e.invalid(p.Index(i), cidrs[i], apivalidation.FieldImmutableErrorMsg)
				}
			}
			return
		case len(was) != 1 || len(cidrs) != 2:
			e.invalid(p, cidrs, apivalidation.FieldImmutableErrorMsg)
			return
		case was[0] != cidrs[0]:
			e.invalid(p.Index(0), cidrs[0], apivalidation.FieldImmutableErrorMsg)
		}
	}
	if len(cidrs) == 0 {
		e.required(p, "at least one CIDR required")
		return
	}
	if len(cidrs) > 2 {
		e.invalid(p, internal{networkingv1.ServiceCIDRSpec{CIDRs: cidrs}}, "may only hold up to 2 values")
		return
	}
	for i, cidr := range cidrs {
		e.add(validation.IsValidCIDR(p.Index(i), cidr)...)
	}
	if len(cidrs) == 2 {
		a, errA := netip.ParsePrefix(cidrs[0])
		b, errB := netip.ParsePrefix(cidrs[1])
		if errA == nil && errB == nil && a.Addr().Is4() == b.Addr().Is4() {
			e.invalid(p, cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
		}
	}
}
