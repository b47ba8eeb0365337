package warnings

import (
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func ofNetworking(l *list, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *networkingv1.Ingress:
		const class = "kubernetes.io/ingress.class"
		if _, ok := o.Annotations[class]; ok && old == nil && o.Spec.IngressClassName == nil {
			l.add("annotation " + quoted(class) + " is deprecated, please use 'spec.ingressClassName' instead")
		}
	case *networkingv1.NetworkPolicy:
		spec := field.NewPath("spec")
		for i, rule := range o.Spec.Ingress {
			l.peers(spec.Child("ingress").Index(i).Child("from"), rule.From)
		}
		for i, rule := range o.Spec.Egress {
			l.peers(spec.Child("egress").Index(i).Child("to"), rule.To)
		}
	case *discoveryv1.EndpointSlice:
		slice(l, o, old == nil)
	default:
		return false
	}
	return true
}

func (l *list) peers(p *field.Path, peers []networkingv1.NetworkPolicyPeer) {
	for i, peer := range peers {
		if peer.IPBlock == nil {
			continue
		}
		block := p.Index(i).Child("ipBlock")
		l.cidr(block.Child("cidr"), peer.IPBlock.CIDR)
		for j, cidr := range peer.IPBlock.Except {
			l.cidr(block.Child("except").Index(j), cidr)
		}
	}
}

// slice warns about addresses, unless a controller of Kubernetes wrote them, which derives them from other objects.
func slice(l *list, o *discoveryv1.EndpointSlice, isNew bool) {
	if isNew && o.AddressType == discoveryv1.AddressTypeFQDN {
		l.add("spec.addressType: FQDN endpoints are deprecated")
	}
	switch o.Labels[discoveryv1.LabelManagedBy] {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return
	}
	for i, e := range o.Endpoints {
		for j, address := range e.Addresses {
			l.ip(field.NewPath("endpoints").Index(i).Child("addresses").Index(j), address)
		}
	}
}
