package registry_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

// changesOf returns changes as "Kind: old -> new", with resourceVersions.
func changesOf(changes []registry.ObjectChange) (texts []string) {
	version := func(it *registry.Item) string {
		if it == nil {
			return ""
		}
		return it.Name() + "@" + it.ResourceVersion()
	}
	for _, c := range changes {
		texts = append(texts, strings.Join(strings.Fields(c.Kind().Info().Kind+": "+version(c.Old)+" -> "+version(c.New)), " "))
	}
	return texts
}

func TestFeedReturnsTheChangesOfAllCollectionsInTheirOrder(t *testing.T) {
	st := newStoreWith(t, registry.Options{History: 4})
	leases, others := leasesIn(st), in(st, endpoints.Kind())
	f := st.Feed(nil)
	poll := func(wantRelist bool) []registry.ObjectChange {
		t.Helper()
		changes, relist, err := f.Poll()
		require.NoError(t, err)
		assert.Equal(t, wantRelist, relist)
		return changes
	}
	assert.Empty(t, poll(true), "the first one")
	assert.Empty(t, poll(false))
	l, err := leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
	require.NoError(t, err)
	_, err = others.Create(t.Context(), newEndpoints("ns/b"), store.CreateOptions{})
	require.NoError(t, err)
	_, err = leases.Collection.Delete(t.Context(), "ns", l.Name, store.DeleteOptions{})
	require.NoError(t, err)
	changes := poll(false)
	assert.Equal(t, []string{"Lease: -> a@1001", "Endpoints: -> b@1002", "Lease: a@1001 ->"}, changesOf(changes))
	assert.EqualValues(t, 1003, changes[2].Version)
	assert.Empty(t, poll(false))
	for range 5 { // one more than the history has
		_, err := leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
		require.NoError(t, err)
		_, err = leases.Collection.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
		require.NoError(t, err)
	}
	assert.Empty(t, poll(true), "changes are lost")
	assert.Empty(t, poll(false))
}

func TestFeedSleepsUntilAChangeThatItWants(t *testing.T) {
	st := newStoreWith(t, registry.Options{History: 4})
	leases, others := leasesIn(st), in(st, endpoints.Kind())
	f := st.Feed(func(c registry.ObjectChange) bool { return c.Kind().Info().Kind == "Endpoints" })
	defer f.Close()
	_, relist, err := f.Poll()
	require.NoError(t, err)
	require.True(t, relist)
	renew := func() {
		_, err := leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
		require.NoError(t, err)
		_, err = leases.Collection.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
		require.NoError(t, err)
	}
	for range 5 { // more than the history has
		renew()
	}
	assert.Empty(t, f.WakeUp())
	_, err = others.Create(t.Context(), newEndpoints("ns/b"), store.CreateOptions{})
	require.NoError(t, err)
	renew()
	assert.Len(t, f.WakeUp(), 1)
	changes, relist, err := f.Poll()
	require.NoError(t, err)
	assert.False(t, relist, "only changes that it does not want are lost")
	assert.Equal(t, []string{"Endpoints: -> b@1011", "Lease: -> a@1012", "Lease: a@1012 ->"}, changesOf(changes))
	renew()
	changes, relist, err = f.Poll()
	require.NoError(t, err)
	assert.False(t, relist)
	assert.Empty(t, changes)
	f.Close()
	<-f.WakeUp()
	_, err = others.Create(t.Context(), newEndpoints("ns/c"), store.CreateOptions{})
	require.NoError(t, err)
	assert.Empty(t, f.WakeUp(), "it is closed")
}
