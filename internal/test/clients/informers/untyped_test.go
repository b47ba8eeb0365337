package informers

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// follow starts an informer and checks that it sees an object created, changed
// and deleted.
func (f *fixture) follow(t *testing.T, r testapi.Resource, informer cache.SharedIndexInformer, start func(ctx context.Context), stop func()) {
	t.Helper()
	c := f.Dynamic(t).Resource(r.GroupVersionResource).Namespace(testapi.Namespace)
	rec := &testapi.Recorder{}
	_, err := informer.AddEventHandler(rec)
	require.NoError(t, err)
	_, err = c.Create(t.Context(), r.New(t, "a"), metav1.CreateOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer stop()
	defer cancel()
	start(ctx)
	require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
	b, err := c.Create(t.Context(), r.New(t, "b"), metav1.CreateOptions{})
	require.NoError(t, err)
	b.SetLabels(map[string]string{"l": "1"})
	_, err = c.Update(t.Context(), b, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	synctest.Wait()
	assert.Equal(t, []string{"found a", "added b", "updated b", "deleted a"}, rec.Take())
}

func TestDynamicInformerFollowsEachResource(t *testing.T) {
	for _, r := range testapi.Resources {
		t.Run(r.Kind+" "+r.Version, func(t *testing.T) {
			eachProtocol(t, store.Options{}, func(t *testing.T, f *fixture) {
				factory := dynamicinformer.NewDynamicSharedInformerFactory(f.Dynamic(t), 0)
				f.follow(t, r, factory.ForResource(r.GroupVersionResource).Informer(),
					func(ctx context.Context) { factory.Start(ctx.Done()) }, factory.Shutdown)
			})
		})
	}
}

func TestMetadataInformerFollowsEachResource(t *testing.T) {
	for _, r := range testapi.Resources {
		t.Run(r.Kind+" "+r.Version, func(t *testing.T) {
			eachProtocol(t, store.Options{}, func(t *testing.T, f *fixture) {
				factory := metadatainformer.NewSharedInformerFactory(f.Metadata(t), 0)
				f.follow(t, r, factory.ForResource(r.GroupVersionResource).Informer(),
					func(ctx context.Context) { factory.Start(ctx.Done()) }, factory.Shutdown)
			})
		})
	}
}
