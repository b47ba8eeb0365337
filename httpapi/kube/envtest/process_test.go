package envtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

func widgetsIn(cfg *rest.Config) (dynamic.ResourceInterface, error) {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("default"), nil
}

func newWidget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name},
	}}
}

// asClient makes the binary of the tests a client of the kubeconfig that it names.
const asClient = "ENVTEST_AS_CLIENT"

func TestMain(m *testing.M) {
	path := os.Getenv(asClient)
	if path == "" {
		os.Exit(m.Run())
	}
	if err := beClient(path); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func beClient(path string) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	widgets, err := widgetsIn(cfg)
	if err != nil {
		return err
	}
	ctx := context.Background()
	read, err := widgets.Get(ctx, "from-the-suite", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if _, err := widgets.Create(ctx, newWidget("from-the-client"), metav1.CreateOptions{}); err != nil {
		return err
	}
	fmt.Print("read ", read.GetName())
	return nil
}

func TestClientInAnotherProcess(t *testing.T) {
	env := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}}
	cfg, err := env.Start()
	require.NoError(t, err)
	defer func() { assert.NoError(t, env.Stop()) }()
	own, err := widgetsIn(cfg)
	require.NoError(t, err)
	_, err = own.Create(t.Context(), newWidget("from-the-suite"), metav1.CreateOptions{})
	require.NoError(t, err)

	path := t.TempDir() + "/kubeconfig"
	require.NoError(t, os.WriteFile(path, env.KubeConfig, 0o600))
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asClient+"="+path)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Equal(t, "read from-the-suite", strings.TrimSpace(string(output)))
	_, err = own.Get(t.Context(), "from-the-client", metav1.GetOptions{})
	require.NoError(t, err)
}

// started returns a new environment and its Widgets.
func started(t *testing.T) (env *envtest.Environment, own dynamic.ResourceInterface) {
	env = &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}}
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	cfg, err := env.Start()
	require.NoError(t, err)
	own, err = widgetsIn(cfg)
	require.NoError(t, err)
	return env, own
}

// Environments of one process share the kinds of equal definitions, and nothing else.
func TestEnvironmentsBesideEachOther(t *testing.T) {
	first, inFirst := started(t)
	second, inSecond := started(t)
	assert.NotEqual(t, first.CRDs[0].UID, second.CRDs[0].UID)
	made, err := inFirst.Create(t.Context(), newWidget("same"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = inSecond.Create(t.Context(), newWidget("same"), metav1.CreateOptions{})
	require.NoError(t, err, "the name is free")
	require.NoError(t, envtest.UninstallCRDs(second.Config, envtest.CRDInstallOptions{CRDs: second.CRDs}))
	again, err := inFirst.Get(t.Context(), "same", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, made.GetResourceVersion(), again.GetResourceVersion())
}

func TestEnvironmentsOfParallelTests(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			_, own := started(t)
			for range 3 {
				made, err := own.Create(t.Context(), newWidget("same"), metav1.CreateOptions{})
				require.NoError(t, err)
				list, err := own.List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				require.Len(t, list.Items, 1)
				assert.Equal(t, made.GetUID(), list.Items[0].GetUID())
				require.NoError(t, own.Delete(t.Context(), "same", metav1.DeleteOptions{}))
			}
		})
	}
}
