package scheme

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// The members about IPs after a write are as in a kube-apiserver with IPv4 alone, but for allocated IPs.
func TestIPMembersOfServicesAreCompleted(t *testing.T) {
	selector := map[string]string{"a": "b"}
	single, dual := new(corev1.IPFamilyPolicySingleStack), new(corev1.IPFamilyPolicyRequireDualStack)
	v4, v6 := corev1.IPv4Protocol, corev1.IPv6Protocol
	for name, row := range map[string]struct {
		old       *corev1.ServiceSpec
		new, want corev1.ServiceSpec
	}{
		"a new service": {
			new:  corev1.ServiceSpec{Selector: selector},
			want: corev1.ServiceSpec{Selector: selector, IPFamilyPolicy: single, IPFamilies: []corev1.IPFamily{v4}},
		},
		"a new headless service": {
			new: corev1.ServiceSpec{Selector: selector, ClusterIP: "None"},
			want: corev1.ServiceSpec{
				Selector: selector, ClusterIP: "None", ClusterIPs: []string{"None"}, IPFamilyPolicy: single, IPFamilies: []corev1.IPFamily{v4},
			},
		},
		"a new headless service without a selector": {
			new: corev1.ServiceSpec{ClusterIP: "None"},
			want: corev1.ServiceSpec{
				ClusterIP: "None", ClusterIPs: []string{"None"}, IPFamilyPolicy: dual, IPFamilies: []corev1.IPFamily{v4, v6},
			},
		},
		"a new service with an IP of the other family": {
			new: corev1.ServiceSpec{Selector: selector, ClusterIP: "fd00::1"},
			want: corev1.ServiceSpec{
				Selector: selector, ClusterIP: "fd00::1", ClusterIPs: []string{"fd00::1"}, IPFamilyPolicy: single, IPFamilies: []corev1.IPFamily{v6},
			},
		},
		"a name for another service": {
			new:  corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName},
			want: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName},
		},
		"an update without IPs": {
			old: &corev1.ServiceSpec{ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, IPFamilyPolicy: single},
			new: corev1.ServiceSpec{Selector: selector},
			want: corev1.ServiceSpec{
				Selector: selector, ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, IPFamilyPolicy: single, IPFamilies: []corev1.IPFamily{v4},
			},
		},
		"an update of clusterIP by an old client": {
			old: &corev1.ServiceSpec{ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}},
			new: corev1.ServiceSpec{Selector: selector, ClusterIP: "10.0.0.2", ClusterIPs: []string{"10.0.0.1"}},
			want: corev1.ServiceSpec{
				Selector: selector, ClusterIP: "10.0.0.2", ClusterIPs: []string{"10.0.0.2"}, IPFamilyPolicy: single, IPFamilies: []corev1.IPFamily{v4},
			},
		},
		"an update to a name for another service": {
			old:  &corev1.ServiceSpec{ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, IPFamilyPolicy: single, IPFamilies: []corev1.IPFamily{v4}},
			new:  corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ClusterIPs: []string{"10.0.0.1"}},
			want: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName},
		},
	} {
		t.Run(name, func(t *testing.T) {
			service := &corev1.Service{Spec: row.new}
			if row.old == nil {
				createService(service)
			} else {
				updateService(service, &corev1.Service{Spec: *row.old})
			}
			assert.Equal(t, row.want, service.Spec)
		})
	}
}
