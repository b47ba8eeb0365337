package admission

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/store"
	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/meta"
)

// attributesOf returns the attributes of a write of an object without content.
func (s *server) attributesOf(op writes.Operation, plural, namespace, name string) *writes.Attributes {
	for _, k := range s.api.Handler().Kinds() {
		if k.Info().Plural == plural {
			o := &store.Unstructured{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name}, Content: map[string]any{}}
			return &writes.Attributes{Operation: op, Resource: k, Kind: k, Namespace: namespace, Name: name, Object: o, Warn: func(string) {}}
		}
	}
	require.Fail(s, "no kind", plural)
	return nil
}

func TestNamespaceMustExist(t *testing.T) {
	s := newServer(t, Options{Runs: runs("Namespace")})
	err := s.chain.Admit(t.Context(), s.attributesOf(writes.Create, "configmaps", "none", "a"))
	assert.EqualError(t, err, `namespaces "none" not found`)
	assert.ErrorIs(t, err, meta.ReasonNotFound)
	assert.NoError(t, s.chain.Admit(t.Context(), s.attributesOf(writes.Update, "configmaps", "none", "a")))
	assert.NoError(t, s.chain.Admit(t.Context(), s.attributesOf(writes.Create, "nodes", "", "a")), "of no namespace")
	assert.NoError(t, s.chain.Admit(t.Context(), s.attributesOf(writes.Create, "configmaps", "default", "a")))
	_, err = s.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "none"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.NoError(t, s.chain.Admit(t.Context(), s.attributesOf(writes.Create, "configmaps", "none", "a")))
	require.NoError(t, s.client.CoreV1().Namespaces().Delete(t.Context(), "none", metav1.DeleteOptions{}))
	err = s.chain.Admit(t.Context(), s.attributesOf(writes.Create, "configmaps", "none", "a"))
	assert.EqualError(t, err, `configmaps "a" is forbidden: unable to create new content in namespace none because it is being terminated`)
}

func TestSystemNamespacesCannotBeDeleted(t *testing.T) {
	s := newServer(t, Options{Runs: runs("Namespace")})
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		err := s.chain.Admit(t.Context(), s.attributesOf(writes.Delete, "namespaces", "", name))
		assert.EqualError(t, err, `namespaces "`+name+`" is forbidden: this namespace may not be deleted`)
	}
	assert.NoError(t, s.chain.Admit(t.Context(), s.attributesOf(writes.Delete, "namespaces", "", "kube-node-lease")))
}
