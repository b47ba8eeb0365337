package candidate

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestCandidatesThatDoNotRenewArePingedAndThenDeleted(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		c := offer("gone", "1.37.0", "")
		c.Spec.Strategy = y // so that nobody is elected, and nobody is pinged for that
		w.create(c)
		time.Sleep(15*time.Minute - time.Second)
		w.takeEvents()
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"Pinged gone"}, w.takeEvents())
		time.Sleep(15*time.Minute - time.Second)
		assert.Empty(t, w.takeEvents(Collected))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"Collected gone"}, w.takeEvents(Collected))
		_, err := w.candidates.Get(t.Context(), "ns", "gone")
		assert.ErrorIs(t, err, store.ErrNotFound)
	})
}

func TestCandidateThatNeverRenewedIsIgnoredAndDeleted(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		c := offer("never", "1.37.0", "1.37.0")
		c.Spec.RenewTime = nil
		w.create(c)
		time.Sleep(29 * time.Minute)
		_, err := w.leases.Get(t.Context(), "ns", "main")
		assert.ErrorIs(t, err, store.ErrNotFound)
		assert.Equal(t, []string{"Pinged never", "Silent never"}, w.takeEvents())
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"Collected never"}, w.takeEvents())
	})
}

func TestCandidateThatRenewsAtTheLastMomentIsKept(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.create(offer("late", "1.37.0", "1.37.0"))
		time.Sleep(30*time.Minute - time.Millisecond)
		_, err := w.candidates.Modify(t.Context(), "ns", "late", func(c *LeaseCandidate) error {
			c.Spec.RenewTime = new(meta.NewMicroTime(time.Now()))
			return nil
		}, store.UpdateOptions{})
		require.NoError(t, err)
		time.Sleep(14 * time.Minute)
		_, err = w.candidates.Get(t.Context(), "ns", "late")
		assert.NoError(t, err)
	})
}

// A Coordinator that starts trusts the times in the objects. It still collects no candidate
// that it has not pinged, because the clock may have jumped while no Coordinator ran.
func TestNoCandidateIsDeletedWithoutAPing(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.stop()
		c := offer("old", "1.37.0", "1.37.0")
		c.Spec.PingTime = new(meta.NewMicroTime(time.Now().Add(time.Second)))
		w.create(c)
		time.Sleep(24 * time.Hour)
		w.elect(CoordinatorOptions{})
		synctest.Wait()
		assert.Equal(t, []string{"Silent old", "Pinged old"}, w.takeEvents())
		_, err := w.candidates.Modify(t.Context(), "ns", "old", func(c *LeaseCandidate) error {
			c.Spec.RenewTime = new(meta.NewMicroTime(time.Now().Add(time.Second)))
			return nil
		}, store.UpdateOptions{})
		require.NoError(t, err)
		time.Sleep(10 * time.Minute)
		assert.Equal(t, "old", w.holder())
	})
}

func TestCandidateKeptByAFinalizerIsIgnored(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		c := offer("a", "1.37.0", "1.36.0")
		c.Finalizers = []string{"example.com/wait"}
		w.start(c)
		w.start(offer("b", "1.37.0", "1.37.0"))
		time.Sleep(time.Minute)
		require.Equal(t, "a", w.leader())
		_, err := w.candidates.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		assert.Equal(t, "b", w.leader())
	})
}
