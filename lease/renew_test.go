package lease

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestRenewNeedsTheLease(t *testing.T) {
	leases := newLeases(t, store.Options{})
	c := newContender(t, leases, "c")
	assert.ErrorIs(t, c.Renew(t.Context()), ErrLost, "before it acquired the Lease")
	require.True(t, try(t, c))
	assert.NoError(t, c.Renew(t.Context()))
	require.NoError(t, c.Release(t.Context()))
	assert.ErrorIs(t, c.Renew(t.Context()), ErrLost, "after its release")
}

func TestRenewFailsAfterTheLeaseIsLost(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, leases *store.Collection[Lease]){
		"another":                             func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "other", time.Minute, time.Now()) },
		"nobody":                              func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "", time.Second, time.Now()) },
		"deleted":                             remove,
		"taken by another with the same name": func(t *testing.T, leases *store.Collection[Lease]) { bump(t, leases, 1) },
		"taken by another with the same name and number": func(t *testing.T, leases *store.Collection[Lease]) {
			_, err := leases.Modify(t.Context(), namespace, name, func(l *Lease) error {
				l.Spec.AcquireTime = new(meta.NewMicroTime(l.Spec.AcquireTime.Add(time.Microsecond)))
				return nil
			}, store.UpdateOptions{})
			require.NoError(t, err)
		},
		"deleted and created again": func(t *testing.T, leases *store.Collection[Lease]) {
			again := &Lease{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name}, Spec: get(t, leases).Spec}
			remove(t, leases)
			_, err := leases.Create(t.Context(), again, store.CreateOptions{})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			leases := newLeases(t, store.Options{})
			c := newContender(t, leases, "c")
			require.True(t, try(t, c))
			lose(t, leases)
			before, errBefore := leases.Get(t.Context(), namespace, "leader")
			assert.ErrorIs(t, c.Renew(t.Context()), ErrLost)
			_, held := c.Held()
			assert.False(t, held)
			assert.NoError(t, c.Release(t.Context()), "a release without the Lease does nothing")
			after, errAfter := leases.Get(t.Context(), namespace, "leader")
			assert.Equal(t, errBefore, errAfter)
			assert.Equal(t, before, after, "another's Lease is not changed")
		})
	}
}

// bump sets leaseTransitions and leaves the holder.
func bump(t *testing.T, leases *store.Collection[Lease], transitions int32) {
	_, err := leases.Modify(t.Context(), namespace, name, func(l *Lease) error {
		l.Spec.LeaseTransitions = &transitions
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
}

func TestRenewRetriesAfterAnotherWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stamps hookedClock
		leases := newLeases(t, store.Options{Clock: stamps.clock()})
		c := newContender(t, leases, "c")
		require.True(t, try(t, c))
		time.Sleep(time.Second)
		label(t, leases, "before")
		stamps.before(func() { label(t, leases, "between") })
		require.NoError(t, c.Renew(t.Context()))
		l := get(t, leases)
		assert.Equal(t, micro(), l.Spec.RenewTime)
		assert.Equal(t, "between", l.Labels["label"], "the change of the other writer stays")

		stamps.before(func() { hold(t, leases, "other", time.Minute, time.Now()) })
		assert.ErrorIs(t, c.Renew(t.Context()), ErrLost)
		assert.Equal(t, "other", *get(t, leases).Spec.HolderIdentity)
	})
}

// A paused holder must stop to lead before others may take over.
func TestRenewAfterTheDeadlineIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		pause time.Duration
		lost  bool
	}{
		"before the deadline":         {10*time.Second - 1, false},
		"at the deadline":             {10 * time.Second, true},
		"after the Lease has expired": {time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := newLeases(t, store.Options{})
				c := newContender(t, leases, "c")
				require.True(t, try(t, c))
				before := get(t, leases)
				time.Sleep(row.pause)
				if !row.lost {
					require.NoError(t, c.Renew(t.Context()))
					return
				}
				require.ErrorIs(t, c.Renew(t.Context()), ErrLost)
				assert.Equal(t, before, get(t, leases), "nothing was written")
			})
		})
	}
}

func TestSlowRenewLosesTheLease(t *testing.T) {
	for name, other := range map[string]bool{"and another took over": true, "and nobody took over": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stamps hookedClock
				leases := newLeases(t, store.Options{Clock: stamps.clock()})
				c, b := newContender(t, leases, "c"), newContender(t, leases, "b")
				require.True(t, try(t, c))
				require.False(t, try(t, b))
				time.Sleep(time.Second)
				stamps.before(func() {
					time.Sleep(16 * time.Second)
					if other {
						require.True(t, try(t, b))
					}
				})
				assert.ErrorIs(t, c.Renew(t.Context()), ErrLost)
				_, held := c.Held()
				assert.False(t, held)
				_, held = b.Held()
				assert.Equal(t, other, held)
			})
		})
	}
}

// client-go's electors cannot distinguish two renewals in one second: they count
// from the first.
func TestRenewInTheSameSecondDoesNotMoveTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c := newContender(t, leases, "c")
		require.True(t, try(t, c))
		time.Sleep(time.Second - 1)
		require.NoError(t, c.Renew(t.Context()))
		time.Sleep(9 * time.Second)
		_, held := c.Held()
		assert.True(t, held)
		time.Sleep(time.Nanosecond)
		_, held = c.Held()
		assert.False(t, held, "ten seconds after the first")
	})
}

func TestReleaseOnlyEndsItsOwnTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stamps hookedClock
		leases := newLeases(t, store.Options{Clock: stamps.clock()})
		c, b := newContender(t, leases, "c"), newContender(t, leases, "b")
		require.NoError(t, c.Release(t.Context()), "before the first acquisition")
		_, err := leases.Get(t.Context(), namespace, name)
		require.ErrorIs(t, err, store.ErrNotFound)

		require.True(t, try(t, c))
		label(t, leases, "before")
		require.NoError(t, c.Release(t.Context()), "another writer does not matter")
		assert.Empty(t, *get(t, leases).Spec.HolderIdentity)

		require.True(t, try(t, c))
		require.False(t, try(t, b))
		stamps.before(func() {
			time.Sleep(15 * time.Second)
			require.True(t, try(t, b))
		})
		require.NoError(t, c.Release(t.Context()), "after another has taken over")
		assert.Equal(t, "b", *get(t, leases).Spec.HolderIdentity)
		assert.NoError(t, b.Renew(t.Context()))
	})
}

func TestReleaseAfterTheDeadlineStillFreesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c, b := newContender(t, leases, "c"), newContender(t, leases, "b")
		require.True(t, try(t, c))
		require.False(t, try(t, b))
		time.Sleep(12 * time.Second)
		require.ErrorIs(t, c.Renew(t.Context()), ErrLost)
		require.False(t, try(t, b))
		require.NoError(t, c.Release(t.Context()))
		assert.True(t, try(t, b))
	})
}

// A paused leader writes with the version that it read before the pause. The new
// leader has written first.
func TestStaleWriteOfAPausedLeaderIsAConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		_, err := leases.Create(t.Context(), &Lease{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: "work"}}, store.CreateOptions{})
		require.NoError(t, err)
		claim := func(c *Contender) *Lease {
			h, held := c.Held()
			require.True(t, held)
			w, err := leases.Get(t.Context(), namespace, "work")
			require.NoError(t, err)
			w.Annotations = map[string]string{"term": h.Holder}
			w, err = leases.Update(t.Context(), w, store.UpdateOptions{})
			require.NoError(t, err)
			return w
		}
		old, next := newContender(t, leases, "old"), newContender(t, leases, "next")
		require.True(t, try(t, old))
		work := claim(old)
		term, _ := old.Held()

		require.False(t, try(t, next))
		time.Sleep(15 * time.Second) // old is paused
		require.True(t, try(t, next))
		claim(next)

		work.Spec.HolderIdentity = new("written by the old leader")
		_, err = leases.Update(t.Context(), work, store.UpdateOptions{})
		assert.ErrorIs(t, err, store.ErrConflict)
		later, _ := next.Held()
		assert.Greater(t, later.FencingToken, term.FencingToken)
		assert.Greater(t, later.LeaseTransitions, term.LeaseTransitions)
	})
}

func TestResourceVersionsOfTermsAlwaysGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		last := uint64(0)
		for i := range 5 {
			c := newContender(t, leases, "c")
			require.True(t, try(t, c))
			h, _ := c.Held()
			assert.Greater(t, h.FencingToken, last)
			assert.Zero(t, h.LeaseTransitions, "of no use here")
			last = h.FencingToken
			for range i {
				time.Sleep(time.Second)
				require.NoError(t, c.Renew(t.Context()))
			}
			remove(t, leases)
		}
	})
}
