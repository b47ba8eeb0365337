package paging

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/pager"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

const (
	objects  = 1000
	pageSize = 50
	writers  = 5
	// between is the number of writes between two pages.
	between = 40
)

// fill creates the leases that the tests start with.
func fill(t *testing.T, c clientv1.LeaseInterface, n int) {
	t.Helper()
	for i := range n {
		_, err := c.Create(t.Context(), testapi.LeaseNumber(2*i), metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// write creates, updates and deletes leases at random, one write for each value
// of turns, until turns is closed.
func write(t *testing.T, c clientv1.LeaseInterface, number int, turns <-chan struct{}) {
	for range turns {
		l := testapi.LeaseNumber(rand.IntN(2*objects)/writers*writers + number) // no two writers share a lease
		old, err := c.Get(t.Context(), l.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			_, err = c.Create(t.Context(), l, metav1.CreateOptions{})
		case err == nil && rand.IntN(2) == 0:
			err = c.Delete(t.Context(), l.Name, metav1.DeleteOptions{})
		case err == nil:
			*old.Spec.LeaseTransitions++
			_, err = c.Update(t.Context(), old, metav1.UpdateOptions{})
		}
		assert.NoError(t, err)
	}
}

// pageThrough reads all pages while writers run.
func pageThrough(t *testing.T, c clientv1.LeaseInterface) *coordinationv1.LeaseList {
	t.Helper()
	turns := make(chan struct{})
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() { write(t, c, i, turns) })
	}
	pages := 0
	p := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		for range between {
			turns <- struct{}{}
		}
		pages++
		return c.List(ctx, opts)
	})
	p.PageSize = pageSize
	list, paged, err := p.List(t.Context(), metav1.ListOptions{})
	close(turns)
	all.Wait()
	require.NoError(t, err)
	assert.True(t, paged)
	assert.GreaterOrEqual(t, pages, objects/pageSize/2)
	return asLeases(list)
}

func TestPagesAreTheStateAtTheFirstPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		c := api.Client(t).CoordinationV1().Leases(testapi.Namespace)
		fill(t, c, objects)
		start := api.Store.ResourceVersion()
		before, err := c.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		paged := pageThrough(t, c)
		require.NotEqual(t, start, paged.ResourceVersion)
		require.Greater(t, version(t, api.Store.ResourceVersion()), version(t, paged.ResourceVersion)+objects/pageSize*between/2, "writers must run between the pages")

		exact, err := c.List(t.Context(), metav1.ListOptions{
			ResourceVersion: paged.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		})
		require.NoError(t, err)
		assert.Equal(t, exact.Items, paged.Items)
		assert.Equal(t, replay(t, c, before, paged.ResourceVersion), byName(paged.Items))
		for i := range paged.Items[1:] {
			require.Less(t, paged.Items[i].Name, paged.Items[i+1].Name, "in order, without duplicates")
		}
	})
}

// replay returns the state at a version, built from the events of a watch.
func replay(t *testing.T, c clientv1.LeaseInterface, from *coordinationv1.LeaseList, to string) map[string]coordinationv1.Lease {
	t.Helper()
	state := byName(from.Items)
	w, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: from.ResourceVersion})
	require.NoError(t, err)
	defer w.Stop()
	for seen := from.ResourceVersion; version(t, seen) < version(t, to); {
		ev := testapi.Next(t, w)
		l := ev.Object.(*coordinationv1.Lease)
		if ev.Type == watch.Deleted {
			delete(state, l.Name)
		} else {
			state[l.Name] = *l
		}
		seen = l.ResourceVersion
	}
	return state
}

func TestConcurrentPagersEachSeeOneState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		c := api.Client(t).CoordinationV1().Leases(testapi.Namespace)
		fill(t, c, objects)
		lists := make([]*coordinationv1.LeaseList, 4)
		for i := range lists {
			lists[i] = pageThrough(t, c)
		}
		for _, paged := range lists {
			exact, err := c.List(t.Context(), metav1.ListOptions{
				ResourceVersion: paged.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: 2 * objects,
			})
			require.NoError(t, err)
			assert.Equal(t, exact.Items, paged.Items)
		}
	})
}
