package defaults

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addConversions adds what upstream's conversion to internal types and back changes. It comes after the defaults of the same
// types.
func addConversions(r rules) {
	on(r, func(s *corev1.Secret) {
		if len(s.StringData) > 0 && s.Data == nil {
			s.Data = make(map[string][]byte, len(s.StringData))
		}
		for key, data := range s.StringData {
			s.Data[key] = []byte(data)
		}
		s.StringData = nil
	})
	on(r, func(s *corev1.PodSpec) {
		value(&s.ServiceAccountName, s.DeprecatedServiceAccount)
		s.DeprecatedServiceAccount = s.ServiceAccountName
	})
	on(r, func(p *corev1.Pod) {
		if grace := p.Spec.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
			p.Spec.TerminationGracePeriodSeconds = new(int64(1))
		}
	})
	on(r, func(s *corev1.PodStatus) {
		if s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP) {
			s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
		} else if len(s.PodIPs) > 0 {
			s.PodIP = s.PodIPs[0].IP
		}
	})
	on(r, func(s *corev1.NodeSpec) {
		if s.PodCIDR != "" && (len(s.PodCIDRs) == 0 || s.PodCIDRs[0] != s.PodCIDR) {
			s.PodCIDRs = []string{s.PodCIDR}
		} else if len(s.PodCIDRs) > 0 {
			s.PodCIDR = s.PodCIDRs[0]
		}
	})
	on(r, func(s *appsv1.StatefulSetSpec) {
		for i := range s.VolumeClaimTemplates {
			s.VolumeClaimTemplates[i].TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		}
	})
	on(r, func(d *appsv1.DaemonSet) {
		if d.Annotations == nil {
			d.Annotations = map[string]string{}
		}
		if _, ok := d.Annotations[appsv1.DeprecatedTemplateGeneration]; !ok {
			d.Annotations[appsv1.DeprecatedTemplateGeneration] = "0"
		}
	})
	on(r, func(d *appsv1.Deployment) {
		if d.Annotations[appsv1.DeprecatedRollbackTo] == "" {
			delete(d.Annotations, appsv1.DeprecatedRollbackTo)
		}
	})
}
