package migrate

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	theirs "sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

// This file has the section of docs/migrate.md about envtest.

func TestEnvironment(t *testing.T) {
	check := func(t *testing.T, config *rest.Config) {
		c, err := client.New(config, client.Options{})
		require.NoError(t, err)
		w := newWidget()
		delete(w.Object, "spec")
		w.Object["spec"] = map[string]any{}
		require.NoError(t, c.Create(t.Context(), w))
		assert.EqualValues(t, 1, w.Object["spec"].(map[string]any)["size"])
	}
	t.Run("theirs", func(t *testing.T) {
		if os.Getenv("KUBEBUILDER_ASSETS") == "" {
			t.Skip("KUBEBUILDER_ASSETS is not set")
		}
		env := &theirs.Environment{CRDDirectoryPaths: []string{filepath.Join("testdata", "crds")}, ErrorIfCRDPathMissing: true}
		config, err := env.Start()
		require.NoError(t, err)
		defer func() { assert.NoError(t, env.Stop()) }()
		check(t, config)
	})
	t.Run("ours", func(t *testing.T) {
		env := &envtest.Environment{CRDDirectoryPaths: []string{filepath.Join("testdata", "crds")}, ErrorIfCRDPathMissing: true}
		config, err := env.Start()
		require.NoError(t, err)
		defer func() { assert.NoError(t, env.Stop()) }()
		check(t, config)
	})
}

func TestEnvironmentInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &envtest.Environment{InProcess: true, TB: t}
		config, err := env.Start()
		require.NoError(t, err)
		defer func() { assert.NoError(t, env.Stop()) }()

		env.API().Fault(apitest.Answer(500).First(1), apitest.Match{Verb: "create", Resource: "configmaps"}).MustHit()
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{})
		assert.True(t, apierrors.IsInternalError(err))
	})
}
