package registry_test

import (
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

func generate(prefix string) func(*lease.Lease) {
	return func(l *lease.Lease) { l.GenerateName = prefix }
}

func TestGeneratedNameIsThePrefixAndFiveCharacters(t *testing.T) {
	long := strings.Repeat("p", 100)
	for name, row := range map[string]struct{ prefix, want string }{
		"a prefix with a dash":         {"worker-", "^worker-[bcdfghjklmnpqrstvwxz2456789]{5}$"},
		"a prefix without a dash":      {"worker", "^worker[bcdfghjklmnpqrstvwxz2456789]{5}$"},
		"a long prefix is cut to fit":  {long, "^" + long[:58] + "[bcdfghjklmnpqrstvwxz2456789]{5}$"},
		"a prefix of 58 bytes is kept": {long[:58], "^" + long[:58] + "[bcdfghjklmnpqrstvwxz2456789]{5}$"},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			in := newLease("ns/", generate(row.prefix))
			got := mustCreate(t, leases, in)
			assert.Regexp(t, row.want, got.Name)
			assert.Equal(t, row.prefix, got.GenerateName, "it stays in the object")
			assert.Empty(t, in.Name, "the caller's object must not change")
			assert.Equal(t, got, mustGet(t, leases, "ns/"+got.Name))
		})
	}
}

func TestNameWinsOverGenerateName(t *testing.T) {
	leases := leasesIn(newStore(t))
	got := mustCreate(t, leases, newLease("ns/a", generate("worker-")))
	assert.Equal(t, "a", got.Name)
	assert.Equal(t, "worker-", got.GenerateName)

	_, err := leases.Create(t.Context(), newLease("ns/a", generate("worker-")), store.CreateOptions{})
	assertStatus(t, err, 409, store.ErrAlreadyExists,
		`leases.coordination.k8s.io "a" already exists, the server was not able to generate a unique name for the object`)
	assert.EqualValues(t, 1, statusOf(t, err).Details.RetryAfterSeconds)

	mustCreate(t, leases, newLease("ns/going", finalizers("a/f")))
	mustDelete(t, leases, "ns/going")
	_, err = leases.Create(t.Context(), newLease("ns/going", generate("worker-")), store.CreateOptions{})
	assertStatus(t, err, 409, store.ErrAlreadyExists,
		`object is being deleted: leases.coordination.k8s.io "going" already exists, the server was not able to generate a unique name for the object`)
}

func TestBadGenerateNameIsTwoErrors(t *testing.T) {
	_, err := leasesIn(newStore(t)).Create(t.Context(), newLease("ns/", generate("Bad_")), store.CreateOptions{})
	require.ErrorIs(t, err, store.ErrInvalid)
	causes := statusOf(t, err).Details.Causes
	require.Len(t, causes, 2)
	assert.Equal(t, "metadata.generateName", causes[0].Field)
	assert.Equal(t, "metadata.name", causes[1].Field)
}

// With the same random bytes the store makes up the same names, so that each
// round collides with all the rounds before it.
func TestGeneratedNameIsTriedEightTimes(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	seen := map[string]bool{}
	for range 8 {
		cryptotest.SetGlobalRandom(t, 1)
		seen[mustCreate(t, leases, newLease("ns/", generate("w-"))).Name] = true
	}
	assert.Len(t, seen, 8)

	cryptotest.SetGlobalRandom(t, 1)
	_, err := leases.Create(t.Context(), newLease("ns/", generate("w-")), store.CreateOptions{})
	status := statusOf(t, err)
	assertStatus(t, err, 409, store.ErrAlreadyExists, `leases.coordination.k8s.io "`+status.Details.Name+
		`" already exists, the server was not able to generate a unique name for the object`)
	assert.True(t, seen[status.Details.Name], "the error names the last one tried")
	assert.EqualValues(t, 1, status.Details.RetryAfterSeconds)
	assert.EqualValues(t, 1008, st.ResourceVersion())
}

func TestGeneratedNamesDiffer(t *testing.T) {
	leases := leasesIn(newStore(t))
	for range 200 {
		mustCreate(t, leases, newLease("ns/", generate("w-")))
	}
	items, _ := mustList(t, leases, registry.ListOptions{})
	assert.Len(t, items, 200)
}
