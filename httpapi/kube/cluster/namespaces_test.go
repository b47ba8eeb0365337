package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// newServer returns an API that does what o says.
func newServer(t *testing.T, o cluster.Options, fixtures ...fixture.Source) (*apitest.API, *kubernetes.Clientset) {
	t.Helper()
	options, err := o.API(httpapi.Options{})
	require.NoError(t, err)
	api := apitest.New(t, apitest.Options{API: options, Fixtures: fixtures})
	return api, clientOf(t, api)
}

func clientOf(t *testing.T, api *apitest.API) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.Transport(), QPS: -1})
	require.NoError(t, err)
	return client
}

func namesOf(t *testing.T, client *kubernetes.Clientset) (out []string) {
	t.Helper()
	list, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, n := range list.Items {
		out = append(out, n.Name)
	}
	return out
}

func TestSystemNamespacesAreThereAtTheStart(t *testing.T) {
	given := fixture.Txtar("", []byte("-- a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {mine: \"1\"}}\n"))
	api, client := newServer(t, cluster.KubeAPIServer(), given)
	for _, c := range []*kubernetes.Clientset{client, clientOf(t, api.Fork(t))} {
		assert.Equal(t, []string{"default", "kube-node-lease", "kube-public", "kube-system"}, namesOf(t, c))
		def, err := c.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, "1", def.Labels["mine"], "the namespace of the fixture is kept")
		system, err := c.CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, corev1.NamespaceActive, system.Status.Phase)
		assert.Equal(t, "kube-apiserver", system.ManagedFields[0].Manager)
		service, err := c.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{"10.0.0.1"}, service.Spec.ClusterIPs)
		assert.Equal(t, 6443, service.Spec.Ports[0].TargetPort.IntValue())
	}
}
