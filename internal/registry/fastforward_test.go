package registry_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// newManualStore returns a store whose clock is moved by hand.
func newManualStore(t testing.TB, opts registry.Options) (*registry.Store, *clock.Manual) {
	m := clock.NewManual(epoch)
	opts.Clock = m
	return newStoreWith(t, opts), m
}

// forward moves the clock, and waits until the watches have seen it.
func forward(m *clock.Manual, d time.Duration) {
	synctest.Wait() // until they have set their timers
	m.FastForward(d)
	synctest.Wait()
}

func TestFastForwardBringsBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, m := newManualStore(t, registry.Options{})
		opts := fromNow()
		opts.AllowWatchBookmarks, opts.Namespace = true, "ns"
		r := record(t, st, opts)
		createAll(t, leasesIn(st), "other/a")
		forward(m, time.Minute-1)
		assert.Empty(t, r.take())
		forward(m, 1)
		assert.Equal(t, []string{"BOOKMARK @1001"}, r.take())
		createAll(t, leasesIn(st), "ns/a")
		assert.Equal(t, []string{"ADDED ns/a@1002"}, r.take())
		forward(m, time.Minute)
		assert.Equal(t, []string{"BOOKMARK @1002"}, r.take())
	})
}

func TestFastForwardEndsWatches(t *testing.T) {
	for _, timeout := range []time.Duration{90 * time.Second, time.Hour} {
		t.Run(timeout.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, m := newManualStore(t, registry.Options{})
				opts := fromNow()
				opts.Timeout = timeout
				r := record(t, st, opts)
				forward(m, timeout-1)
				createAll(t, leasesIn(st), "ns/a")
				assert.Equal(t, []string{"ADDED ns/a@1001"}, r.take())
				m.FastForward(1)
				assert.Equal(t, io.EOF, r.ended())
			})
		})
	}
}

func TestFastForwardMakesHistoryOld(t *testing.T) {
	st, m := newManualStore(t, registry.Options{HistoryAge: time.Minute})
	leases := leasesIn(st)
	createAll(t, leases, "ns/a")
	m.FastForward(time.Minute)
	mustModify(t, leases, "ns/a", holder("b"))
	_, _, err := leases.List(t.Context(), registry.ListOptions{ResourceVersion: "1000", ResourceVersionMatch: registry.MatchExact})
	require.NoError(t, err, "as old as history may be")
	m.FastForward(1)
	_, _, err = leases.List(t.Context(), registry.ListOptions{ResourceVersion: "1000", ResourceVersionMatch: registry.MatchExact})
	require.ErrorIs(t, err, store.ErrExpired)
	_, _, err = leases.List(t.Context(), registry.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: registry.MatchExact})
	require.NoError(t, err)
}

func TestFastForwardEndsTheWaitForAVersionToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, m := newManualStore(t, registry.Options{})
		done := make(chan error, 1)
		go func() {
			_, err := leaseResource(st).Get(t.Context(), "ns", "a", "2000")
			done <- err
		}()
		forward(m, 3*time.Second-1)
		assert.Empty(t, done)
		m.FastForward(1)
		assertStatus(t, <-done, 504, store.ErrTimeout, "Timeout: Too large resource version: 2000, current: 1000")
	})
}
