package envtest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

// A suite starts an environment with its definitions, as with controller-runtime's envtest.
func ExampleEnvironment_Start() {
	env := &envtest.Environment{CRDDirectoryPaths: []string{"testdata/crds"}, ErrorIfCRDPathMissing: true}
	cfg, err := env.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer env.Stop()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	resources, err := client.Discovery().ServerResourcesForGroupVersion("example.com/v1")
	fmt.Println(resources.APIResources[0].Kind, err)
	// Output: Widget <nil>
}

// A user of AddUser has the rights of its roles, here none.
func ExampleEnvironment_AddUser() {
	env := &envtest.Environment{InProcess: true}
	if _, err := env.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer env.Stop()
	user, err := env.AddUser(envtest.User{Name: "alice"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := kubernetes.NewForConfig(user.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	fmt.Println(err)
	// Output: nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope
}

// The API behind an environment has faults. Without a TB, Stop returns their failures.
func ExampleEnvironment_API() {
	env := &envtest.Environment{InProcess: true}
	cfg, err := env.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	conflict := env.API().Fault(apitest.Answer(409), apitest.Match{Verb: "create", Resource: "configmaps", Client: "admin"})
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.CoreV1().ConfigMaps("default").Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	fmt.Println(apierrors.IsConflict(err), conflict.Hits())
	fmt.Println(env.Stop())
	// Output:
	// true 1
	// <nil>
}

// In a bubble time is virtual: an hour takes no time.
func TestInProcessWorksInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &envtest.Environment{InProcess: true, TB: t, CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}}
		cfg, err := env.Start()
		require.NoError(t, err)
		client, err := kubernetes.NewForConfig(cfg)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		assert.NoError(t, env.Stop())
	})
}
