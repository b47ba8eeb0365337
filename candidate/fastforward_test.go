package candidate

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A candidate renews once and then does nothing. All of the Coordinator's timers are timers of its store's clock.
func TestFastForwardTakesACoordinatorThroughItsTimes(t *testing.T) {
	in(t, func(t *testing.T) {
		start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		m := clock.NewManual(start)
		w := newWorldOn(t, store.Options{Clock: m}, CoordinatorOptions{})
		c := offer("a", "1.37.0", "1.37.0")
		c.Spec.RenewTime = new(meta.NewMicroTime(start))
		w.create(c)
		seen := map[string]bool{}
		last := ""
		forward := func(d time.Duration) {
			for until := m.Now().Add(d); m.Now().Before(until); {
				m.FastForward(min(200*time.Millisecond, until.Sub(m.Now())))
				synctest.Wait()
				for _, event := range w.takeEvents() {
					last = m.Now().Sub(start).String() + " " + event
					seen[last] = true
				}
			}
		}
		synctest.Wait()
		forward(200*time.Millisecond - 1)
		assert.Empty(t, last, "another candidate may be about to come")
		forward(1)
		require.Equal(t, "200ms Elected a", last)
		assert.Equal(t, "a", *w.lease().Spec.HolderIdentity)
		forward(5*time.Second - 1)
		assert.Equal(t, "200ms Elected a", last)
		forward(1)
		forward(time.Hour)
		for _, want := range []string{"5.2s Missed a", "5.2s Pinged a", "10.2s Silent a", "15.2s Pinged a", "35.2s Pinged a"} {
			assert.True(t, seen[want], "want %s, got %v", want, seen)
		}
		assert.Equal(t, "30m0s Collected a", last)
		_, err := w.candidates.Get(t.Context(), "ns", "a")
		assert.ErrorIs(t, err, store.ErrNotFound)
	})
}
