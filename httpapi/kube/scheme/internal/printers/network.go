package printers

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// listed is how many items of a list a cell names.
const listed = 3

func serviceCells(o *corev1.Service, c clock) []any {
	ip := none
	if len(o.Spec.ClusterIPs) > 0 {
		ip = o.Spec.ClusterIPs[0]
	}
	var ports []string
	for _, p := range o.Spec.Ports {
		port := strconv.Itoa(int(p.Port))
		if p.NodePort > 0 {
			port += ":" + strconv.Itoa(int(p.NodePort))
		}
		ports = append(ports, port+"/"+string(p.Protocol))
	}
	return []any{
		o.Name, string(o.Spec.Type), ip, externalIP(o), orWord(join(ports), none), c.age(o), formatLabels(o.Spec.Selector),
	}
}

func externalIP(o *corev1.Service) string {
	switch o.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return orWord(join(o.Spec.ExternalIPs), none)
	case corev1.ServiceTypeExternalName:
		return o.Spec.ExternalName
	case corev1.ServiceTypeLoadBalancer:
		points := ingressPoints(o.Status.LoadBalancer.Ingress, func(i corev1.LoadBalancerIngress) (string, string) {
			return i.IP, i.Hostname
		})
		return orWord(join(append(points, o.Spec.ExternalIPs...)), "<pending>")
	}
	return unknown
}

// ingressPoints returns the IPs of a load balancer, host names where there is no IP, sorted and without duplicates.
func ingressPoints[T any](ingress []T, address func(T) (ip, host string)) []string {
	var points []string
	for _, i := range ingress {
		ip, host := address(i)
		if point := orWord(ip, host); point != "" {
			points = append(points, point)
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

func ingressCells(o *networkingv1.Ingress, c clock) []any {
	points := ingressPoints(o.Status.LoadBalancer.Ingress, func(i networkingv1.IngressLoadBalancerIngress) (string, string) {
		return i.IP, i.Hostname
	})
	ports := "80"
	if len(o.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	return []any{o.Name, or(o.Spec.IngressClassName, none), formatHosts(o.Spec.Rules), join(points), ports, c.age(o)}
}

// formatHosts returns the hosts of the rules. "more" counts all other rules from the fourth host on, with a host or without.
func formatHosts(rules []networkingv1.IngressRule) string {
	var hosts []string
	for _, rule := range rules {
		if len(hosts) == listed {
			return more(hosts, len(rules)-listed)
		}
		if rule.Host != "" {
			hosts = append(hosts, rule.Host)
		}
	}
	return orWord(join(hosts), "*")
}

func ingressClassCells(o *networkingv1.IngressClass, c clock) []any {
	name, parameters := o.Name, none
	if o.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
		name += " (default)"
	}
	if p := o.Spec.Parameters; p != nil {
		parameters = p.Kind
		if p.APIGroup != nil {
			parameters += "." + *p.APIGroup
		}
		parameters += "/" + p.Name
	}
	return []any{name, o.Spec.Controller, parameters, c.age(o)}
}

// formatSubsets returns the addresses of Endpoints, each with each port of its subset.
func formatSubsets(subsets []corev1.EndpointSubset) string {
	if len(subsets) == 0 {
		return none
	}
	var all []string
	for _, s := range subsets {
		for _, p := range s.Ports {
			for _, a := range s.Addresses {
				all = append(all, net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port))))
			}
		}
		if len(s.Ports) == 0 {
			for _, a := range s.Addresses {
				all = append(all, a.IP)
			}
		}
	}
	return atMost(all, listed)
}

func formatSlicePorts(ports []discoveryv1.EndpointPort) string {
	var all []string
	for _, p := range ports {
		switch {
		case p.Port != nil:
			all = append(all, strconv.Itoa(int(*p.Port)))
		case p.Name != nil:
			all = append(all, *p.Name)
		default:
			all = append(all, "*")
		}
	}
	return orWord(atMost(all, listed), unset)
}

func formatSliceEndpoints(endpoints []discoveryv1.Endpoint) string {
	var all []string
	for _, e := range endpoints {
		all = append(all, e.Addresses...)
	}
	return orWord(atMost(all, listed), unset)
}

// formatParent returns the object that an IPAddress belongs to: resource.group/namespace/name.
func formatParent(ref *networkingv1.ParentReference) string {
	if ref == nil {
		return none
	}
	s := strings.ToLower(schema.GroupResource{Group: ref.Group, Resource: ref.Resource}.String())
	if ref.Namespace != "" {
		s += "/" + ref.Namespace
	}
	return fmt.Sprintf("%s/%s", s, ref.Name)
}
