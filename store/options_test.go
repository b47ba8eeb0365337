package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

func TestOptionsReachTheStore(t *testing.T) {
	manual := clock.NewManual(epoch)
	forgets := func(t *testing.T, st *store.Store) {
		_, err := lease.In(st).List(t.Context(), store.ListOptions{ResourceVersion: "1000", ResourceVersionMatch: store.MatchExact})
		assert.ErrorIs(t, err, store.ErrExpired)
	}
	for name, row := range map[string]struct {
		opts  store.Options
		check func(t *testing.T, st *store.Store) // the store holds ns/a and ns/b
	}{
		"history":          {store.Options{History: 1}, forgets},
		"bytes of history": {store.Options{HistoryBytes: 1}, forgets},
		"age of history": {store.Options{HistoryAge: time.Minute, Clock: manual}, func(t *testing.T, st *store.Store) {
			manual.FastForward(time.Hour)
			forgets(t, st)
		}},
		"quota": {store.Options{Quota: 3 << 10}, func(t *testing.T, st *store.Store) {
			_, err := lease.In(st).Create(t.Context(), newLease("ns/c"), store.CreateOptions{})
			assert.EqualError(t, err, "etcdserver: mvcc: database space exceeded")
		}},
		"seed": {store.Options{Seed: 7}, func(t *testing.T, st *store.Store) {
			other := lease.In(newStoreWith(t, store.Options{Seed: 7}))
			assert.Equal(t, mustGet(t, lease.In(st), "ns/a").UID, mustCreate(t, other, newLease("ns/a")).UID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStoreWith(t, row.opts)
			createAll(t, lease.In(st), "ns/a", "ns/b")
			row.check(t, st)
		})
	}
}

func TestDryRunsWriteNothing(t *testing.T) {
	st := newStore(t)
	leases := lease.In(st)
	created := mustCreate(t, leases, newLease("ns/a"))
	change := func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new("x")
		return nil
	}
	got, err := leases.Create(t.Context(), newLease("ns/b"), store.CreateOptions{DryRun: true})
	require.NoError(t, err)
	assert.Empty(t, got.ResourceVersion)
	changed := newLease("ns/a", holder("x"), func(l *lease.Lease) { l.ResourceVersion = created.ResourceVersion })
	got, err = leases.Update(t.Context(), changed, store.UpdateOptions{DryRun: true})
	require.NoError(t, err)
	assert.Equal(t, "x", *got.Spec.HolderIdentity)
	got, err = leases.Modify(t.Context(), "ns", "a", change, store.UpdateOptions{DryRun: true})
	require.NoError(t, err)
	assert.Equal(t, "x", *got.Spec.HolderIdentity)
	got, err = leases.Delete(t.Context(), "ns", "a", store.DeleteOptions{DryRun: true})
	require.NoError(t, err)
	assert.Equal(t, created, got)
	list, err := leases.DeleteCollection(t.Context(), store.DeleteOptions{DryRun: true}, store.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []*lease.Lease{created}, list.Items)

	assert.Equal(t, []*lease.Lease{created}, mustList(t, leases, store.ListOptions{}).Items)
	assert.Equal(t, "1001", st.ResourceVersion())
}

func TestFieldManagersThatARealServerRefuses(t *testing.T) {
	for name, row := range map[string]struct{ manager, want string }{
		"too long":    {strings.Repeat("m", 129), "fieldManager: Too long: may not be more than 128 bytes"},
		"unprintable": {"a\ab", `fieldManager: Invalid value: "a\ab": invalid character U+0007 (at position 1)`},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			leases := lease.In(st)
			createAll(t, leases, "ns/a")
			opts := store.UpdateOptions{FieldManager: row.manager}
			_, err := leases.Create(t.Context(), newLease("ns/b"), store.CreateOptions(opts))
			assertStatus(t, err, 422, store.ErrInvalid, `CreateOptions.meta.k8s.io "" is invalid: `+row.want)
			_, err = leases.Update(t.Context(), newLease("ns/b"), opts)
			assertStatus(t, err, 422, store.ErrInvalid, `UpdateOptions.meta.k8s.io "" is invalid: `+row.want)
			_, err = leases.Modify(t.Context(), "ns", "a", func(*lease.Lease) error { return nil }, opts)
			assertStatus(t, err, 422, store.ErrInvalid, `UpdateOptions.meta.k8s.io "" is invalid: `+row.want)
			assert.Equal(t, "1001", st.ResourceVersion())
		})
	}
}

// writes are all writes of a Collection, of a store that holds ns/a and ns/b.
func writes() map[string]func(context.Context, *collection) error {
	return map[string]func(context.Context, *collection) error{
		"create": func(ctx context.Context, c *collection) error {
			_, err := c.Create(ctx, newLease("ns/new"), store.CreateOptions{})
			return err
		},
		"update": func(ctx context.Context, c *collection) error {
			_, err := c.Update(ctx, newLease("ns/new"), store.UpdateOptions{})
			return err
		},
		"modify": func(ctx context.Context, c *collection) error {
			_, err := c.Modify(ctx, "ns", "a", func(l *lease.Lease) error {
				l.Spec.HolderIdentity = new("x")
				return nil
			}, store.UpdateOptions{})
			return err
		},
		"delete": func(ctx context.Context, c *collection) error {
			_, err := c.Delete(ctx, "ns", "a", store.DeleteOptions{})
			return err
		},
		"delete collection": func(ctx context.Context, c *collection) error {
			_, err := c.DeleteCollection(ctx, store.DeleteOptions{}, store.ListOptions{})
			return err
		},
	}
}

func TestWriteWithAnEndedContextIsRefused(t *testing.T) {
	for name, write := range writes() {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			leases := lease.In(st)
			createAll(t, leases, "ns/a", "ns/b")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			assert.Equal(t, context.Canceled, write(ctx, leases))
			late, cancel := context.WithTimeout(t.Context(), -1)
			defer cancel()
			assert.Equal(t, context.DeadlineExceeded, write(late, leases))
			assert.Equal(t, "1002", st.ResourceVersion())

			require.NoError(t, write(t.Context(), leases))
			_, err := leases.DeleteCollection(ctx, store.DeleteOptions{}, store.ListOptions{Namespace: "empty"})
			assert.Equal(t, context.Canceled, err)
		})
	}
}

func TestModifyWritesNothingIfItsContextEndsMeanwhile(t *testing.T) {
	leases := lease.In(newStore(t))
	createAll(t, leases, "ns/a")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := leases.Modify(ctx, "ns", "a", func(l *lease.Lease) error {
		cancel()
		l.Spec.HolderIdentity = new("x")
		return nil
	}, store.UpdateOptions{})
	assert.Equal(t, context.Canceled, err)
	assert.Nil(t, mustGet(t, leases, "ns/a").Spec.HolderIdentity)
}
