package kube_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// This file has the test that docs/kinds.md shows, and one with a built-in kind.

func TestASecretGetsItsDefaults(t *testing.T) {
	api := cluster.NewTest(t, cluster.KubeAPIServer())
	client, err := kubernetes.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.Transport()})
	require.NoError(t, err)
	secrets := client.CoreV1().Secrets("default")

	secret, err := secrets.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "token"}, StringData: map[string]string{"value": "hidden"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.SecretTypeOpaque, secret.Type)
	assert.Equal(t, "hidden", string(secret.Data["value"]))

	secret.Type = corev1.SecretTypeTLS
	_, err = secrets.Update(t.Context(), secret, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "the type of a Secret is immutable")
}

func TestADirectoryMayDefineItsKinds(t *testing.T) {
	api := cluster.NewTest(t, cluster.Options{}, fixture.FS(os.DirFS("testdata/backup")))

	types := runtime.NewScheme() // the scheme of your controller
	types.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v1"}, &Backup{})
	kind, err := kube.KindOf[Backup](types, api.Handler().Kinds())
	require.NoError(t, err)
	backups, err := kube.In[Backup](kind, api.Store())
	require.NoError(t, err)
	nightly, err := backups.Get(t.Context(), "default", "nightly")
	require.NoError(t, err)
	assert.EqualValues(t, 3, *nightly.Spec.Keep, "the default of the schema")

	nightly.Spec.Schedule = ""
	_, err = backups.Update(t.Context(), nightly, store.UpdateOptions{})
	assert.ErrorContains(t, err, "spec.schedule: Invalid value: \"\": spec.schedule in body should be at least 1 chars long")
}
