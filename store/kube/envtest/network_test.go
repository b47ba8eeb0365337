package envtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/store/kube/envtest"
)

// Services get what the flags allow.
func TestServicesHaveTheRangesOfTheFlags(t *testing.T) {
	env := &envtest.Environment{}
	env.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.5.0.0/24,fd00::/112").Set("service-node-port-range", "31000-31000")
	cfg, err := env.Start()
	require.NoError(t, err)
	defer func() { assert.NoError(t, env.Stop()) }()
	services := kubernetes.NewForConfigOrDie(cfg).CoreV1().Services("default")
	own, err := services.Get(t.Context(), "kubernetes", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "10.5.0.1", own.Spec.ClusterIP)
	made, err := services.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeNodePort, IPFamilyPolicy: new(corev1.IPFamilyPolicyRequireDualStack), Ports: []corev1.ServicePort{{Port: 80}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Len(t, made.Spec.ClusterIPs, 2)
	assert.Equal(t, int32(31000), made.Spec.Ports[0].NodePort)

	for flag, want := range map[string]string{
		"service-cluster-ip-range": "service-cluster-ip-range[0] is not a valid cidr",
		"service-node-port-range":  `invalid argument "x" for "--service-node-port-range" flag: strconv.Atoi: parsing "x": invalid syntax`,
	} {
		env := &envtest.Environment{}
		env.ControlPlane.GetAPIServer().Configure().Set(flag, "x")
		_, err := env.Start()
		assert.ErrorContains(t, err, want)
		assert.NoError(t, env.Stop())
	}
}
