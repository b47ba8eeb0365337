package envtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// The state of a server has nearly two hundred objects of its own, with the time and the name of the machine.
func TestGoldenStateHasNothingOfTheServerOrTheRun(t *testing.T) {
	state := func() string {
		env := &envtest.Environment{InProcess: true, TB: t, CRDDirectoryPaths: []string{"testdata/crds"}}
		config, err := env.Start()
		require.NoError(t, err)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		_, err = client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		owner, err := client.CoreV1().ConfigMaps("mine").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().Secrets("mine").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Name: "owned", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}},
		}}, metav1.CreateOptions{})
		require.NoError(t, err)
		env.API().Golden("testdata/golden.yaml", fixture.DumpOptions{Namespaces: []string{"mine"}, Form: fixture.FormStream})
		return env.API().Dump(fixture.DumpOptions{Repeatable: true, Form: fixture.FormTxtar})
	}
	all := state()
	assert.Equal(t, all, state())
	assert.Regexp(t, `^-- configmaps/mine/owner.yaml --\n(.*\n)*?-- namespaces/mine.yaml --\n(.*\n)*?-- secrets/mine/owned.yaml --\n(.*\n)*?-- customresourcedefinitions.apiextensions.k8s.io/widgets.example.com.yaml --\n`, all)
	assert.Contains(t, all, `lastTransitionTime: "2000-01-01T00:00:00Z"`, "of the conditions of the definition")
}
