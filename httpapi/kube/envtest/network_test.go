package envtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
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

// Pods tolerate nodes for the times of the flags, and have the account that exists if the plugin runs.
func TestPodsAreAdmittedByTheFlags(t *testing.T) {
	env := &envtest.Environment{}
	env.ControlPlane.GetAPIServer().Configure().Set("default-not-ready-toleration-seconds", "5").Disable("disable-admission-plugins")
	cfg, err := env.Start()
	require.NoError(t, err)
	defer func() { assert.NoError(t, env.Stop()) }()
	client := kubernetes.NewForConfigOrDie(cfg).CoreV1()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "i"}}}}
	_, err = client.Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	assert.EqualError(t, err, `pods "a" is forbidden: error looking up service account default/default: serviceaccount "default" not found`)
	_, err = client.ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	made, err := client.Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "default", made.Spec.ServiceAccountName)
	assert.Equal(t, int64(5), *made.Spec.Tolerations[0].TolerationSeconds)
	assert.Equal(t, int64(300), *made.Spec.Tolerations[1].TolerationSeconds)
}
