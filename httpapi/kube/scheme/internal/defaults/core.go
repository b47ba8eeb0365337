package defaults

import (
	"maps"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func addCore(r rules) {
	on(r, resources)
	on(r, service)
	on(r, replicationController)
	on(r, limitRangeItem)
	on(r, func(s *corev1.Secret) { value(&s.Type, corev1.SecretTypeOpaque) })
	on(r, func(s *corev1.NamespaceStatus) { value(&s.Phase, corev1.NamespaceActive) })
	on(r, func(n *corev1.Namespace) {
		if n.Name == "" { // the label follows when generateName has made a name
			return
		}
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[corev1.LabelMetadataName] = n.Name
	})
	on(r, func(s *corev1.NodeStatus) {
		if s.Allocatable == nil && s.Capacity != nil {
			s.Allocatable = s.Capacity.DeepCopy()
		}
	})
	on(r, func(p *corev1.EndpointPort) { value(&p.Protocol, corev1.ProtocolTCP) })
	on(r, func(o *corev1.PodLogOptions) { pointer(&o.Stream, corev1.LogStreamAll) })
	on(r, func(s *authenticationv1.TokenRequestSpec) { pointer(&s.ExpirationSeconds, 60*60) })
}

// resources rounds quantities up to milli-units, the finest that the API keeps.
func resources(list *corev1.ResourceList) {
	for name, q := range *list {
		q.RoundUp(-3)
		(*list)[name] = q
	}
}

// missing copies the entries of from that to has not.
func missing(to, from corev1.ResourceList) {
	for name, q := range from {
		if _, ok := to[name]; !ok {
			to[name] = q.DeepCopy()
		}
	}
}

func service(s *corev1.Service) {
	spec := &s.Spec
	value(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	sessionAffinity(spec)
	value(&spec.Type, corev1.ServiceTypeClusterIP)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		value(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	balanced := spec.Type == corev1.ServiceTypeLoadBalancer
	outside := balanced || spec.Type == corev1.ServiceTypeNodePort
	if outside || spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0 {
		value(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if outside || spec.Type == corev1.ServiceTypeClusterIP {
		pointer(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if balanced {
		pointer(&spec.AllocateLoadBalancerNodePorts, true)
		for i := range s.Status.LoadBalancer.Ingress {
			if in := &s.Status.LoadBalancer.Ingress[i]; in.IP != "" {
				pointer(&in.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
	}
}

func sessionAffinity(spec *corev1.ServiceSpec) {
	switch config := spec.SessionAffinityConfig; spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		if config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil {
			timeout := corev1.DefaultClientIPServiceAffinitySeconds
			spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &timeout}}
		}
	}
}

func replicationController(c *corev1.ReplicationController) {
	pointer(&c.Spec.Replicas, 1)
	if c.Spec.Template == nil || c.Spec.Template.Labels == nil {
		return
	}
	if len(c.Spec.Selector) == 0 {
		c.Spec.Selector = maps.Clone(c.Spec.Template.Labels)
	}
	if len(c.Labels) == 0 {
		c.Labels = maps.Clone(c.Spec.Template.Labels)
	}
}

// limitRangeItem derives the limits of containers from max, and their requests from the limits, then from min.
func limitRangeItem(item *corev1.LimitRangeItem) {
	if item.Type != corev1.LimitTypeContainer {
		return
	}
	if item.Default == nil {
		item.Default = corev1.ResourceList{}
	}
	if item.DefaultRequest == nil {
		item.DefaultRequest = corev1.ResourceList{}
	}
	missing(item.Default, item.Max)
	missing(item.DefaultRequest, item.Default)
	missing(item.DefaultRequest, item.Min)
}
