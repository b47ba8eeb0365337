package registry_test

import (
	"strings"
	"sync"
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

func TestUIDFollowsFromTheSeedAndTheName(t *testing.T) {
	st, leases := seeded(t, 7)
	createAll(t, leases, "ns/a", "ns/b", "other/a")
	e, err := in(st, endpoints.Kind()).Create(t.Context(), newEndpoints("ns/a"), store.CreateOptions{})
	require.NoError(t, err)
	seen := map[string]bool{string(e.UID): true}
	for _, path := range []string{"ns/a", "ns/b", "other/a"} {
		seen[uidOf(t, leases, path)] = true
	}
	assert.Len(t, seen, 4, "each has one of its own")
	assert.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", e.UID)

	for name, row := range map[string]struct {
		seed uint64
		same bool
	}{"the same seed": {7, true}, "another seed": {8, false}, "no seed": {0, false}} {
		t.Run(name, func(t *testing.T) {
			_, again := seeded(t, row.seed)
			createAll(t, again, "ns/z", "other/a", "ns/a")
			assert.Equal(t, row.same, uidOf(t, again, "ns/a") == uidOf(t, leases, "ns/a"), "whatever came before")
			assert.Equal(t, row.same, uidOf(t, again, "other/a") == uidOf(t, leases, "other/a"))
		})
	}
}

func TestUIDOfANameThatIsTakenAgainIsAnother(t *testing.T) {
	_, leases := seeded(t, 7)
	seen := map[string]bool{}
	for range 5 {
		createAll(t, leases, "ns/a")
		seen[uidOf(t, leases, "ns/a")] = true
		mustDelete(t, leases, "ns/a")
	}
	assert.Len(t, seen, 5)
	_, again := seeded(t, 7)
	for range 5 {
		createAll(t, again, "ns/a")
		assert.True(t, seen[uidOf(t, again, "ns/a")])
		delete(seen, uidOf(t, again, "ns/a"))
		mustDelete(t, again, "ns/a")
	}
	assert.Empty(t, seen)
}

func TestDryRunReturnsTheNextUIDAndName(t *testing.T) {
	_, leases := seeded(t, 7)
	for range 2 {
		dry, err := leases.Create(t.Context(), newLease("ns/", generate("w-")), store.CreateOptions{DryRun: true})
		require.NoError(t, err)
		again, err := leases.Create(t.Context(), newLease("ns/", generate("w-")), store.CreateOptions{DryRun: true})
		require.NoError(t, err)
		real := mustCreate(t, leases, newLease("ns/", generate("w-")))
		assert.Equal(t, []string{real.Name, real.Name}, []string{dry.Name, again.Name})
		assert.Equal(t, real.UID, dry.UID)
	}
}

func TestGeneratedNamesFollowFromTheSeed(t *testing.T) {
	names := func(seed uint64, between ...string) (out []string) {
		_, leases := seeded(t, seed)
		for _, path := range between {
			mustCreate(t, leases, newLease("ns/", generate(path)))
		}
		for range 100 {
			out = append(out, mustCreate(t, leases, newLease("ns/", generate("w-"))).Name)
		}
		return out
	}
	first := names(7)
	assert.Equal(t, first, names(7, "v-", "w", "x-"), "names of other prefixes have no part in them")
	assert.NotEqual(t, first, names(8))
	for _, name := range first {
		assert.Regexp(t, "^w-[bcdfghjklmnpqrstvwxz2456789]{5}$", name)
	}
}

func TestAPrefixIsNotTheObjectOfThatName(t *testing.T) {
	_, leases := seeded(t, 7)
	createAll(t, leases, "ns/a")
	first := uidOf(t, leases, "ns/a")
	mustDelete(t, leases, "ns/a")
	createAll(t, leases, "ns/a")
	second := uidOf(t, leases, "ns/a")

	_, leases = seeded(t, 7)
	names := map[string]bool{}
	for _, want := range []string{first, second} {
		name := mustCreate(t, leases, newLease("ns/", generate("a"))).Name
		mustDelete(t, leases, "ns/"+name)
		names[name] = true
		createAll(t, leases, "ns/a")
		assert.Equal(t, want, uidOf(t, leases, "ns/a"))
		mustDelete(t, leases, "ns/a")
	}
	assert.Len(t, names, 2)
}

func TestGeneratedNameThatIsTakenIsPassedOver(t *testing.T) {
	_, leases := seeded(t, 7)
	first := mustCreate(t, leases, newLease("ns/", generate("w-"))).Name
	_, again := seeded(t, 7)
	createAll(t, again, "ns/"+first)
	assert.NotEqual(t, first, mustCreate(t, again, newLease("ns/", generate("w-"))).Name)
}

// Writers at once, of names of their own and of one prefix that they share.
func TestWritersAtOnceMakeUpTheSame(t *testing.T) {
	const writers, each = 8, 50
	run := func() (uids map[string]string) {
		_, leases := seeded(t, 7)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for _, path := range manyPaths(string(rune('a'+w)), each) {
					_, err := leases.Create(t.Context(), newLease(path), store.CreateOptions{})
					assert.NoError(t, err)
					_, err = leases.Create(t.Context(), newLease("ns/", generate("w-")), store.CreateOptions{})
					assert.NoError(t, err)
				}
			})
		}
		wg.Wait()
		items, _ := mustList(t, leases, registry.ListOptions{})
		uids = map[string]string{}
		for _, l := range items {
			uids[l.Namespace+"/"+l.Name] = string(l.UID)
		}
		return uids
	}
	first := run()
	assert.Len(t, first, 2*writers*each)
	assert.Equal(t, first, run())
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

// Between PrepareRestore and Restore the name may have had another object.
func TestRestoredObjectFollowsTheLastOneOfItsName(t *testing.T) {
	st, restored := seeded(t, 7)
	o, err := leaseResource(st).PrepareRestore(newLease("ns/a"), registry.Request{})
	require.NoError(t, err)
	_, leases := seeded(t, 7)
	for _, c := range []collection{leases, restored} {
		createAll(t, c, "ns/a")
		mustDelete(t, c, "ns/a")
	}
	createAll(t, leases, "ns/a")
	require.NoError(t, st.Restore([]*registry.Restored{o}, 0))
	assert.Equal(t, uidOf(t, leases, "ns/a"), uidOf(t, restored, "ns/a"))
}

func TestSeedZeroIsRandom(t *testing.T) {
	_, a := seeded(t, 0)
	_, b := seeded(t, 0)
	createAll(t, a, "ns/a")
	createAll(t, b, "ns/a")
	assert.NotEqual(t, uidOf(t, a, "ns/a"), uidOf(t, b, "ns/a"))
	assert.False(t, strings.HasPrefix(uidOf(t, a, "ns/a"), "00000000-0000"))
}
