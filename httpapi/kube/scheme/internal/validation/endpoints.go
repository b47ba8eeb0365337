package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// endpoints checks Endpoints; subsets that an update leaves as they are may be wrong.
func endpoints(e *errs, o, old *corev1.Endpoints) {
	own := e.own()
	for i := range o.Subsets {
		s, p := &o.Subsets[i], field.NewPath("subsets").Index(i)
		if len(s.Addresses)+len(s.NotReadyAddresses) == 0 {
			own.required(p, "must specify `addresses` or `notReadyAddresses`")
		}
		for j := range s.Addresses {
			endpointAddress(own, p.Child("addresses").Index(j), &s.Addresses[j])
		}
		for j := range s.NotReadyAddresses {
			endpointAddress(own, p.Child("notReadyAddresses").Index(j), &s.NotReadyAddresses[j])
		}
		for j, port := range s.Ports {
			p := p.Child("ports").Index(j)
			if port.Name != "" {
				own.label(p.Child("name"), port.Name)
			} else if len(s.Ports) > 1 {
				own.required(p.Child("name"), "")
			}
			own.port(p.Child("port"), port.Port)
			protocol(own, p.Child("protocol"), port.Protocol)
			if port.AppProtocol != nil {
				own.qualified(p.Child("appProtocol"), *port.AppProtocol)
			}
		}
	}
	if old == nil || !apiequality.Semantic.DeepEqual(old.Subsets, o.Subsets) {
		e.add(own.ErrorList...)
	}
}

func endpointAddress(e *errs, p loc, a *corev1.EndpointAddress) {
	e.ip(p.Child("ip"), a.IP)
	if a.Hostname != "" {
		e.label(p.Child("hostname"), a.Hostname)
	}
	if a.NodeName != nil {
		e.invalids(p.Child("nodeName"), *a.NodeName, apivalidation.NameIsDNSSubdomain(*a.NodeName, false))
	}
	endpointIP(e, p.Child("ip"), a.IP)
}

func validateDiscovery(e *errs, subresource string, obj, old runtime.Object) bool {
	s, ok := obj.(*discoveryv1.EndpointSlice)
	if !ok {
		return false
	}
	was := kindOf[discoveryv1.EndpointSlice](old)
	e.covered("", func(e *errs) {
		requiredOneOf(e, field.NewPath("addressType"), s.AddressType, discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6)
	})
	slicePorts(e, field.NewPath("ports"), s.Ports)
	own, p := e.own(), field.NewPath("endpoints")
	if len(s.Endpoints) > 1000 {
		own.tooMany(p, len(s.Endpoints), 1000)
	} else {
		for i := range s.Endpoints {
			endpoint(own, p.Index(i), &s.Endpoints[i], s.AddressType)
		}
	}
	if was == nil || !apiequality.Semantic.DeepEqual(was.Endpoints, s.Endpoints) {
		e.add(own.ErrorList...)
	}
	return true
}

func slicePorts(e *errs, p loc, ports []discoveryv1.EndpointPort) {
	if len(ports) > 20000 {
		e.tooMany(p, len(ports), 20000)
		return
	}
	names := map[string]bool{}
	for i, port := range ports {
		p, name := p.Index(i), deref(port.Name)
		if name != "" {
			e.label(p.Child("name"), name)
		}
		if names[name] {
			e.duplicate(p.Child("name"), name)
		}
		names[name] = true
		if port.Protocol == nil {
			e.required(p.Child("protocol"), "")
		} else {
			oneOf(e, p.Child("protocol"), *port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
		}
		if port.AppProtocol != nil {
			e.qualified(p.Child("appProtocol"), *port.AppProtocol)
		}
	}
}

func endpoint(e *errs, p loc, o *discoveryv1.Endpoint, kind discoveryv1.AddressType) {
	addresses := p.Child("addresses")
	for i, s := range o.Addresses {
		p := addresses.Index(i)
		switch kind {
		case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6:
			list := validation.IsValidIP(p, s)
			if kind == discoveryv1.AddressTypeIPv4 {
				list = validation.IsValidIPForLegacyField(p, s, true, nil)
			}
			if len(list) > 0 {
				e.add(list...)
				continue
			}
			if isIPv6(s) != (kind == discoveryv1.AddressTypeIPv6) {
				e.invalid(addresses, s, "must be an "+string(kind)+" address")
			}
			endpointIP(e, p, s)
		case discoveryv1.AddressTypeFQDN:
			e.add(validation.IsFullyQualifiedDomainName(p, s)...)
		}
	}
	if o.NodeName != nil {
		e.invalids(p.Child("nodeName"), *o.NodeName, apivalidation.NameIsDNSSubdomain(*o.NodeName, false))
	}
	if o.Hostname != nil {
		e.label(p.Child("hostname"), *o.Hostname)
	}
	if o.Hints != nil {
		hints(e, p.Child("hints"), o.Hints)
	}
}

func hints(e *errs, p loc, h *discoveryv1.EndpointHints) {
	var seen []string
	list := func(p loc, n int, name func(int) string, rule func(string) []string) {
		if n > 8 {
			e.tooMany(p, n, 8)
			return
		}
		seen = seen[:0]
		for i := range n {
			p, s := p.Index(i).Child("name"), name(i)
			if slices.Contains(seen, s) {
				e.duplicate(p, s)
			}
			seen = append(seen, s)
			e.invalids(p, s, rule(s))
		}
	}
	list(p.Child("forZones"), len(h.ForZones), func(i int) string { return h.ForZones[i].Name }, validation.IsValidLabelValue)
	list(p.Child("forNodes"), len(h.ForNodes), func(i int) string { return h.ForNodes[i].Name },
		func(s string) []string { return apivalidation.NameIsDNSSubdomain(s, false) })
}
