package kube_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/watch"
)

// collections returns the objects of a built-in kind in a store, and on its server.
func collections[T any, P interface {
	*T
	runtime.Object
}](t *testing.T, api *apitest.API) (kind kind.Kind, doors map[string]*store.Collection[T]) {
	kind, err := kube.KindOf[T, P](clientgoscheme.Scheme, api.Handler().Kinds())
	require.NoError(t, err)
	c, err := client.New(client.Config{Server: api.Host(), Transport: api.Transport()})
	require.NoError(t, err)
	local, err := kube.In[T, P](kind, api.Store())
	require.NoError(t, err)
	remote, err := kube.In[T, P](kind, c)
	require.NoError(t, err)
	return kind, map[string]*store.Collection[T]{"store": local, "client": remote}
}

func newBuiltins(t *testing.T) *apitest.API {
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	return apitest.New(t, apitest.Options{API: httpapi.Options{Kinds: kinds}})
}

func TestBuiltInKindsKeepTheirGoType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newBuiltins(t)
		kind, doors := collections[corev1.Pod](t, api)
		for name, pods := range doors {
			sent := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}, Volumes: []corev1.Volume{}},
			}
			pod, err := pods.Create(t.Context(), sent, store.CreateOptions{})
			require.NoError(t, err)
			assert.Empty(t, sent.UID, "the caller's object is not changed")
			assert.Equal(t, corev1.PodPending, pod.Status.Phase)
			assert.Nil(t, pod.Labels, "as it was stored")
			assert.Nil(t, pod.Spec.Volumes)
			pod.Spec.Containers[0].Image = "changed by a reader"
			got, err := pods.Get(t.Context(), "default", name)
			require.NoError(t, err)
			assert.Equal(t, "i", got.Spec.Containers[0].Image, "each reader has a copy")
			got.Status.Phase, got.Spec.NodeName = corev1.PodRunning, "ignored"
			got, err = pods.Status().Update(t.Context(), got, store.UpdateOptions{})
			require.NoError(t, err)
			assert.Equal(t, []any{corev1.PodRunning, ""}, []any{got.Status.Phase, got.Spec.NodeName})
			got, err = pods.Modify(t.Context(), "default", name, func(p *corev1.Pod) error {
				p.Spec.Containers[0].Image = "j"
				return nil
			}, store.UpdateOptions{})
			require.NoError(t, err)
			assert.Equal(t, "j", got.Spec.Containers[0].Image)
			for ev, err := range pods.Watch(t.Context(), store.WatchOptions{Namespace: "default", Name: name}) {
				require.NoError(t, err)
				assert.Equal(t, watch.Added, ev.Type)
				assert.Equal(t, got, ev.Object)
				break
			}
		}
		_, err := store.As[corev1.Pod](kind)
		assert.NoError(t, err)
		_, err = store.As[store.Unstructured](kind)
		assert.EqualError(t, err, "store: kind Pod: got objects of type *v1.Pod, want *store.Unstructured")
		_, err = kube.In[corev1.Service](kind, api.Store())
		assert.EqualError(t, err, "store: kind Pod: got objects of type *v1.Pod, want *v1.Service")
	})
}
