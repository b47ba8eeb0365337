package informers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestCacheFollowsTheServer(t *testing.T) {
	eachProtocol(t, store.Options{}, func(t *testing.T, f *fixture) {
		a := f.createLease(t, "a")
		f.createLease(t, "b")
		_, err := f.cs.CoreV1().Endpoints(testapi.Namespace).Create(t.Context(), testapi.Endpoints("e"), metav1.CreateOptions{})
		require.NoError(t, err)
		factory, rec := f.start(t)
		assert.ElementsMatch(t, []string{"found a", "found b"}, rec.Take(), "a stream is collected in a map first, without order")
		f.assertFresh(t, factory)
		e, err := factory.Core().V1().Endpoints().Lister().Endpoints(testapi.Namespace).Get("e")
		require.NoError(t, err)
		assert.Equal(t, testapi.Endpoints("e").Subsets, e.Subsets)

		f.createLease(t, "c")
		f.renewLease(t, a)
		f.deleteLease(t, "b")
		f.assertFresh(t, factory)
		assert.Equal(t, []string{"added c", "updated a", "deleted b"}, rec.Take())
	})
}

func TestInformerStartsWithAListOrAStream(t *testing.T) {
	eachProtocol(t, store.Options{}, func(t *testing.T, f *fixture) {
		f.createLease(t, "a")
		f.Link.Requests()
		f.start(t)
		starts, resumes := f.leaseRequests()
		require.Len(t, starts, 1)
		q := starts[0].Query
		if f.watchList {
			assert.Equal(t, "true", q.Get("sendInitialEvents"))
			assert.Empty(t, resumes, "the stream continues as the watch")
		} else {
			assert.Equal(t, "500", q.Get("limit"))
			assert.Equal(t, "0", q.Get("resourceVersion"))
			assert.Len(t, resumes, 1)
		}
		assert.Equal(t, 2, f.Store.Watchers())
	})
}
