package registry_test

import (
	"testing"
	"testing/cryptotest"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

func generate(prefix string) func(*lease.Lease) {
	return func(l *lease.Lease) { l.GenerateName = prefix }
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
