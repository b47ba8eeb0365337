package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/kind"
)

func TestKindOfFindsTheKindOfATypeByItsScheme(t *testing.T) {
	all := []kind.Kind{lease.Kind(), backupKind}
	s := runtime.NewScheme()
	_, err := kube.KindOf[Backup](s, all)
	assert.ErrorContains(t, err, "kube: no kind is registered for the type kube_test.Backup in scheme")
	group := schema.GroupVersion{Group: "example.com", Version: "v1"}
	s.AddKnownTypes(group, &Backup{})
	got, err := kube.KindOf[Backup](s, all)
	require.NoError(t, err)
	assert.Same(t, backupKind, got)
	_, err = kube.KindOf[Backup](s, all[:1])
	assert.EqualError(t, err, "kube: none of the 1 kinds is Backup.example.com")

	older := runtime.NewScheme()
	older.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v1beta1"}, &Backup{})
	_, err = kube.KindOf[Backup](older, all)
	assert.EqualError(t, err, "kube: kube_test.Backup is of version v1beta1, want a type of version v1, in which the objects are stored")
	require.NoError(t, corev1.AddToScheme(s))
	_, err = kube.KindOf[corev1.ConfigMap](s, all)
	assert.EqualError(t, err, "kube: none of the 2 kinds is ConfigMap")
}
