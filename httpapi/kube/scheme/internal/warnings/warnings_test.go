package warnings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Objects that a server of today refuses can be there from before, and their updates are warned about. All other warnings are compared
// with recorded ones (internal/test/kube/cluster, warnings.go).
func TestWarningsAboutObjectsFromBefore(t *testing.T) {
	slice := func(by string) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Labels: map[string]string{discoveryv1.LabelManagedBy: by}},
			AddressType: discoveryv1.AddressTypeFQDN, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"010.0.0.1", "10.0.0.2"}}},
		}
	}
	addresses := []string{`endpoints[0].addresses[0]: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"`}
	zoned := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "TZ=UTC * * * * *"}}
	for _, c := range []struct {
		name     string
		obj, old runtime.Object
		want     []string
	}{
		{"a slice of the user", slice("me"), slice("me"), addresses},
		{"a slice of the controller", slice("endpointslice-controller.k8s.io"), slice(""), nil},
		{"a slice of the mirroring controller", slice("endpointslicemirroring-controller.k8s.io"), slice(""), nil},
		{"a new slice", slice("me"), nil, append([]string{"spec.addressType: FQDN endpoints are deprecated"}, addresses...)},
		{"a zone in a schedule", zoned, zoned, []string{
			"cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
		}},
		{"addresses of a service", &corev1.Service{Spec: corev1.ServiceSpec{
			ClusterIP: "010.0.0.1", ClusterIPs: []string{"010.0.0.1"}, LoadBalancerIP: "none", LoadBalancerSourceRanges: []string{"10.0.0.1/24"},
		}}, nil, []string{
			`spec.clusterIPs[0]: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"`,
			`spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)`,
		}},
		{"blocks of a policy", &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
			Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "010.0.0.0/8"}}}}},
		}}, nil, []string{
			`spec.ingress[0].from[0].ipBlock.cidr: non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"`,
		}},
		{"a config of a node", &corev1.Node{Spec: corev1.NodeSpec{ConfigSource: &corev1.NodeConfigSource{}}}, nil, []string{"spec.configSource: the feature is removed"}},
		{"a kind without warnings", &corev1.ConfigMap{}, nil, nil},
	} {
		assert.Equal(t, c.want, OfWrite(c.obj, c.old), c.name)
	}
}
