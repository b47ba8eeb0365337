package discovery

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestMemoryCacheAsksOnceUntilItIsInvalidated(t *testing.T) {
	api := testapi.New(t, store.Options{})
	c := memory.NewMemCacheClient(api.Discovery(t))
	ask := func() int {
		groups, lists, err := c.ServerGroupsAndResources()
		require.NoError(t, err)
		assert.Len(t, groups, 2)
		assert.Len(t, lists, 5)
		return len(api.Link.Requests())
	}
	assert.Equal(t, 2, ask())
	assert.Zero(t, ask())
	assert.True(t, c.Fresh())
	c.Invalidate()
	assert.Equal(t, 2, ask())
}

// kubectl caches discovery in this way.
func TestDiskCacheRevalidatesByETag(t *testing.T) {
	api := testapi.New(t, store.Options{})
	dir := t.TempDir()
	c, err := disk.NewCachedDiscoveryClientForConfig(api.Config(), dir+"/discovery", dir+"/http", time.Hour)
	require.NoError(t, err)
	ask := func() []testapi.Request {
		groups, lists, err := c.ServerGroupsAndResources()
		require.NoError(t, err)
		assert.Len(t, groups, 2)
		assert.Len(t, lists, 5)
		return api.Link.Requests()
	}
	first := ask()
	require.NotEmpty(t, first)
	for _, r := range first {
		assert.Equal(t, http.StatusOK, r.Code)
	}
	assert.Empty(t, ask())
	c.Invalidate()
	again := ask()
	require.NotEmpty(t, again)
	for _, r := range again {
		assert.NotEmpty(t, r.IfNoneMatch, "%s", r)
		assert.Equal(t, http.StatusNotModified, r.Code, "%s", r)
	}
}
