package quota

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/quota/v1/generic"
)

// services returns the evaluator of Services. It counts node ports that a Service will get.
func services() *evaluator {
	return &evaluator{
		resource: corev1.Resource("services"),
		handles:  isWrite,
		counts: func(name corev1.ResourceName) bool {
			return name == "count/services" || name == corev1.ResourceServices || name == corev1.ResourceServicesNodePorts || name == corev1.ResourceServicesLoadBalancers
		},
		inScope: generic.MatchesNoScopeFunc,
		usage:   typed(serviceUsage),
	}
}

func serviceUsage(s *corev1.Service) corev1.ResourceList {
	ports, balancers := 0, 0
	switch {
	case s.Spec.Type == corev1.ServiceTypeNodePort:
		ports = len(s.Spec.Ports)
	case s.Spec.Type == corev1.ServiceTypeLoadBalancer:
		balancers = 1
		for _, p := range s.Spec.Ports {
			if gets := s.Spec.AllocateLoadBalancerNodePorts; gets == nil || *gets || p.NodePort != 0 {
				ports++
			}
		}
	}
	return corev1.ResourceList{
		"count/services": one(), corev1.ResourceServices: one(),
		corev1.ResourceServicesNodePorts:     *resource.NewQuantity(int64(ports), resource.DecimalSI),
		corev1.ResourceServicesLoadBalancers: *resource.NewQuantity(int64(balancers), resource.DecimalSI),
	}
}
