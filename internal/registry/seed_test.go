package registry_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

func seeded(t testing.TB, seed uint64) (*registry.Store, collection) {
	st := newStoreWith(t, registry.Options{Seed: seed})
	return st, leasesIn(st)
}

func uidOf(t testing.TB, c collection, path string) string {
	return string(mustGet(t, c, path).UID)
}

func TestRandomValuesFollowFromTheSeed(t *testing.T) {
	story := func(seed uint64) (values []string) {
		_, leases := seeded(t, seed)
		e, err := in(leases.r.Store(), endpoints.Kind()).Create(t.Context(), newEndpoints("ns/a"), store.CreateOptions{})
		require.NoError(t, err)
		values = append(values, string(e.UID))
		for range 50 {
			l := mustCreate(t, leases, newLease("ns/", generate("w-")))
			values = append(values, string(l.UID), l.Name)
			mustDelete(t, leases, "ns/"+l.Name)
			createAll(t, leases, "ns/"+l.Name)
			values = append(values, uidOf(t, leases, "ns/"+l.Name))
		}
		return values
	}
	first := story(7)
	assert.Equal(t, first, story(7))
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(first))), len(first), "each value is another")
	again, random := story(8), story(0)
	for i, v := range first {
		assert.NotEqual(t, v, again[i])
		assert.NotEqual(t, v, random[i])
		if strings.HasPrefix(v, "w-") {
			assert.Regexp(t, "^w-[bcdfghjklmnpqrstvwxz2456789]{5}$", v)
			continue
		}
		assert.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", v)
	}
}

func TestGeneratedNamesAreKnown(t *testing.T) {
	_, leases := seeded(t, 7)
	long := strings.Repeat("x", 70) + "-"
	for _, prefix := range []string{"w-", long} {
		l := mustCreate(t, leases, newLease("ns/", generate(prefix)))
		got, ok := registry.Generated(l.Name, l.GenerateName)
		assert.True(t, ok, l.Name)
		assert.Equal(t, l.Name[:len(l.Name)-5], got)
	}
	for name, prefix := range map[string]string{"w-0": "w-", "w-11111": "w-", "w-bbbbbb": "w-", "v-bbbbb": "w-", "bbbbb": ""} {
		_, ok := registry.Generated(name, prefix)
		assert.False(t, ok, name)
	}
}

// takeName stores a Lease with a name in the namespace ns, and uses up no random value.
func takeName(t testing.TB, st *registry.Store, name string) {
	t.Helper()
	l := newLease("ns/" + name)
	l.UID = "taken"
	o, err := leaseResource(st).PrepareRestore(l, registry.Request{})
	require.NoError(t, err)
	require.NoError(t, st.Restore([]*registry.Restored{o}, 0))
}

func TestForkGeneratesTheNamesAndUIDsOfItsParent(t *testing.T) {
	st, leases := seeded(t, 7)
	createAll(t, leases, "ns/a")
	mustCreate(t, leases, newLease("ns/", generate("w-")))
	mustDelete(t, leases, "ns/a")
	fork, err := st.Fork()
	require.NoError(t, err)
	t.Cleanup(fork.Close)
	for _, c := range []collection{leases, leasesIn(fork)} {
		createAll(t, c, "ns/a")
		mustCreate(t, c, newLease("ns/", generate("w-")))
	}
	want, _ := mustList(t, leases, registry.ListOptions{})
	got, _ := mustList(t, leasesIn(fork), registry.ListOptions{})
	assert.Equal(t, want, got)
}

func TestRestoredObjectWithoutUIDHasTheOneOfACreate(t *testing.T) {
	_, leases := seeded(t, 7)
	createAll(t, leases, "ns/a", "ns/b")
	st, restored := seeded(t, 7)
	r := leaseResource(st)
	var objects []*registry.Restored
	for _, path := range []string{"ns/a", "ns/b"} {
		o, err := r.PrepareRestore(newLease(path), registry.Request{})
		require.NoError(t, err)
		objects = append(objects, o)
	}
	require.NoError(t, st.Restore(objects, 0))
	for _, path := range []string{"ns/a", "ns/b"} {
		assert.Equal(t, uidOf(t, leases, path), uidOf(t, restored, path))
	}
}
