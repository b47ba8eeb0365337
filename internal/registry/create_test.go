package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestCreateInAnotherNamespaceIsRefusedBeforeItWarns(t *testing.T) {
	warned := func(text string) { t.Error(text) }
	twice := newLease("ns/a", owners(owner("u"), owner("u")))
	_, err := leaseResource(newStore(t)).Create(t.Context(), twice, &registry.Request{Namespace: "other", Warn: warned})
	assertStatus(t, err, 400, store.ErrBadRequest, "the namespace of the provided object does not match the namespace sent on the request")
}

// The store must neither share memory with the object of a caller nor with an answer.
func TestManagersOfTheCallerAreCopied(t *testing.T) {
	leases := leasesIn(newStore(t))
	entry := meta.ManagedFieldsEntry{Manager: "m", Operation: "Apply", APIVersion: "coordination.k8s.io/v1", Time: new(meta.NewTime(epoch)),
		FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:spec":{"f:holderIdentity":{}}}`)}}
	spoil := func(l *lease.Lease) {
		for i := range l.ManagedFields {
			e := &l.ManagedFields[i]
			e.Manager, e.Time.Time = "spoilt", time.Time{}
			if e.FieldsV1 != nil {
				copy(e.FieldsV1.Raw, "spoilt")
			}
		}
		*l.Spec.HolderIdentity, l.Labels["k"] = "spoilt", "spoilt"
	}
	given := newLease("ns/a", holder("x"), label("k", "v"), func(l *lease.Lease) { l.ManagedFields = []meta.ManagedFieldsEntry{entry} })
	write := mustCreate
	for i := range 3 {
		answer := write(t, leases, given)
		want := mustGet(t, leases, "ns/a")
		assert.Equal(t, want, answer)
		spoil(given)
		spoil(answer)
		require.Equal(t, want, mustGet(t, leases, "ns/a"))
		write, given = mustUpdate, want
		given.Spec.LeaseTransitions = new(int32(i))
	}
}

func TestCreateRefusesObjectsTooLargeForEtcd(t *testing.T) {
	const most = 1536 << 10 // of the stored form
	leases := leasesIn(newStore(t))
	large := mustCreate(t, leases, newLease("ns/exact", holder(strings.Repeat("x", 1535<<10))))
	mustDelete(t, leases, "ns/exact")
	large.ResourceVersion = "" // it is not stored
	rest := most - leases.r.Schema(0).Size(large)
	for more, managed := range []bool{true, false} {
		l := mustCreate(t, leases, newLease("ns/exact", holder(strings.Repeat("x", 1535<<10+rest+more))))
		assert.Equal(t, managed, len(l.ManagedFields) > 0, "%d bytes: above the limit the managers are left out", most+more)
		mustDelete(t, leases, "ns/exact")
		l.ResourceVersion = ""
		if managed {
			assert.Equal(t, most, leases.r.Schema(0).Size(l))
			_, err := leases.r.PrepareRestore(l, registry.Request{})
			assert.NoError(t, err)
		}
	}
	_, err := leases.Apply(t.Context(), newLease("ns/exact", holder(strings.Repeat("x", 1535<<10+rest+1))), store.ApplyOptions{FieldManager: strings.Repeat("m", 100)})
	assertPlain(t, err, "etcdserver: request is too large") // an apply without its managers would be none
	_, err = leases.Create(t.Context(), newLease("ns/a", holder(strings.Repeat("x", 1536<<10))), store.CreateOptions{})
	assertPlain(t, err, "etcdserver: request is too large")
	_, err = leases.Create(t.Context(), newLease("ns/a", holder(strings.Repeat("x", 1536<<10))), store.CreateOptions{DryRun: true})
	require.NoError(t, err, "a dry run does not reach etcd")
	mustCreate(t, leases, newLease("ns/a", holder(strings.Repeat("x", 1535<<10))))
	_, err = leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
		*l.Spec.HolderIdentity += strings.Repeat("x", 1<<10)
		return nil
	}, store.UpdateOptions{})
	assertPlain(t, err, "etcdserver: request is too large")
}
