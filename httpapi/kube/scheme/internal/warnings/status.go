package warnings

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// OfStatus returns the warnings about a write of the status.
func OfStatus(obj, old runtime.Object) []string {
	l, status := &list{}, field.NewPath("status")
	balancers := status.Child("loadBalancer", "ingress")
	switch o := obj.(type) {
	case *corev1.Pod:
		for i, ip := range o.Status.PodIPs {
			l.ip(status.Child("podIPs").Index(i).Child("ip"), ip.IP)
		}
		for i, ip := range o.Status.HostIPs {
			l.ip(status.Child("hostIPs").Index(i).Child("ip"), ip.IP)
		}
	case *corev1.Service:
		for i, b := range o.Status.LoadBalancer.Ingress {
			l.balancer(balancers.Index(i), b.IP)
		}
	case *networkingv1.Ingress:
		for i, b := range o.Status.LoadBalancer.Ingress {
			l.balancer(balancers.Index(i), b.IP)
		}
	case *admissionv1.ValidatingAdmissionPolicy: // upstream its status has no strategy of its own here
		ofAdmission(l, obj, old)
	}
	return l.texts
}

func (l *list) balancer(p *field.Path, ip string) {
	if ip != "" {
		l.ip(p, ip)
	}
}
