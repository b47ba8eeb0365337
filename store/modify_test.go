package store_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

func TestModifyIsRetriedUntilEveryWriterCounted(t *testing.T) {
	const writers, each = 8, 200
	st := newStore(t)
	leases := lease.In(st)
	mustCreate(t, leases, newLease("ns/a", func(l *lease.Lease) { l.Spec.LeaseTransitions = new(int32(0)) }))

	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				_, err := leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
					*l.Spec.LeaseTransitions++
					return nil
				}, store.UpdateOptions{})
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, writers*each, *mustGet(t, leases, "ns/a").Spec.LeaseTransitions)
	assert.Equal(t, strconv.Itoa(1001+writers*each), st.ResourceVersion(), "each counted change took one version")
}

func TestModifyIsCalledAgainWithTheNewerState(t *testing.T) {
	leases := lease.In(newStore(t))
	createAll(t, leases, "ns/a")
	calls := 0
	got, err := leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
		if calls++; calls == 1 {
			mustModify(t, leases, "ns/a", holder("another"))
		}
		l.Labels = map[string]string{"calls": strconv.Itoa(calls)}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, 2, calls)
	assert.Equal(t, "another", *got.Spec.HolderIdentity, "the other writer's change is kept")
	assert.Equal(t, map[string]string{"calls": "2"}, got.Labels)
}

func TestModifyReturnsTheErrorOfItsFunction(t *testing.T) {
	st := newStore(t)
	leases := lease.In(st)
	createAll(t, leases, "ns/a")
	errMine := errors.New("mine")
	got, err := leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new("x")
		return errMine
	}, store.UpdateOptions{})
	assert.Same(t, errMine, err)
	assert.Nil(t, got)
	assert.Nil(t, mustGet(t, leases, "ns/a").Spec.HolderIdentity)
	assert.Equal(t, "1001", st.ResourceVersion())
}

func TestModifyThatChangesNothingReturnsTheCurrentState(t *testing.T) {
	leases := lease.In(newStore(t))
	createAll(t, leases, "ns/a")
	calls := 0
	got, err := leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
		if calls++; calls == 1 {
			mustModify(t, leases, "ns/a", holder("another"))
		}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "1002", got.ResourceVersion)
	require.NotNil(t, got.Spec.HolderIdentity)
	assert.Equal(t, "another", *got.Spec.HolderIdentity)
}
