package lease

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// diary records the values of Observe, with the time since its start.
type diary struct {
	mu      sync.Mutex // guards entries
	entries []string
	done    <-chan error
}

func observe(t *testing.T, leases *store.Collection[Lease]) *diary {
	ctx, cancel := context.WithCancel(t.Context())
	d, start := &diary{}, time.Now()
	d.done = later(func() error {
		for h, err := range Observe(ctx, leases, namespace, name) {
			if err != nil {
				return err
			}
			d.mu.Lock()
			d.entries = append(d.entries, fmt.Sprintf("%s %q %d", time.Since(start), h.Holder, h.LeaseTransitions))
			d.mu.Unlock()
		}
		return nil
	})
	t.Cleanup(cancel)
	synctest.Wait()
	return d
}

// take waits until all goroutines are idle and returns the entries since the last call.
func (d *diary) take() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.entries
	d.entries = nil
	return entries
}

func TestObserveReturnsEachChangeOfHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		d := observe(t, leases)
		assert.Equal(t, []string{`0s "" 0`}, d.take(), "there is no Lease")

		time.Sleep(time.Second)
		a, b := newContender(t, leases, "a"), newContender(t, leases, "b")
		require.True(t, try(t, a))
		assert.Equal(t, []string{`1s "a" 0`}, d.take())

		for range 3 {
			time.Sleep(9 * time.Second)
			require.NoError(t, a.Renew(t.Context()))
			label(t, leases, time.Now().Format("05"))
		}
		assert.Empty(t, d.take(), "a renewal is no change")

		time.Sleep(time.Second)
		require.NoError(t, a.Release(t.Context()))
		assert.Equal(t, []string{`29s "" 0`}, d.take(), "released")

		require.True(t, try(t, b))
		assert.Equal(t, []string{`29s "b" 1`}, d.take())

		time.Sleep(15*time.Second - 1)
		assert.Empty(t, d.take())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{`44s "" 1`}, d.take(), "expired")
		time.Sleep(time.Hour)
		assert.Empty(t, d.take())

		hold(t, leases, "b", 2*time.Second, time.Now())
		assert.Equal(t, []string{`1h0m44s "b" 1`}, d.take(), "a holder that renews after a pause is the holder again")
		time.Sleep(time.Second)
		hold(t, leases, "c", 15*time.Second, time.Now())
		assert.Equal(t, []string{`1h0m45s "c" 1`}, d.take())
		time.Sleep(time.Second)
		hold(t, leases, "c", time.Second, time.Now())
		time.Sleep(time.Second)
		assert.Equal(t, []string{`1h0m47s "" 1`}, d.take(), "it uses a shorter duration")

		hold(t, leases, "c", time.Minute, time.Now())
		bump(t, leases, 2)
		remove(t, leases)
		assert.Equal(t, []string{`1h0m47s "c" 1`, `1h0m47s "c" 2`, `1h0m47s "" 0`}, d.take(), "renewed, a new term, deleted")
	})
}

func TestObserveCountsTheDurationFromItsStart(t *testing.T) {
	for name, renewed := range map[string]time.Time{"in 1970": time.Unix(0, 0), "in 3000": time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := newLeases(t, store.Options{})
				hold(t, leases, "a", 3*time.Hour, renewed)
				time.Sleep(time.Hour)
				d := observe(t, leases)
				time.Sleep(4 * time.Hour) // longer than a watch lasts
				assert.Equal(t, []string{`0s "a" 0`, `3h0m0s "" 0`}, d.take())
			})
		})
	}
}

func TestObserveReturnsChangesMadeDuringTheLoopBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var seen []Holding
		for h, err := range Observe(ctx, leases, namespace, name) {
			if err != nil {
				break
			}
			seen = append(seen, h)
			switch len(seen) {
			case 1:
				hold(t, leases, "a", time.Minute, time.Now())
			case 2:
				hold(t, leases, "b", 10*time.Second, time.Now())
				bump(t, leases, 1)
				hold(t, leases, "c", time.Minute, time.Now())
				remove(t, leases)
			}
		}
		assert.Equal(t, []Holding{
			{},
			{Holder: "a", FencingToken: 1001},
			{Holder: "b", FencingToken: 1002},
			{Holder: "b", FencingToken: 1003, LeaseTransitions: 1},
			{Holder: "c", FencingToken: 1004, LeaseTransitions: 1},
			{},
		}, seen)
	})
}

func TestObserveReturnsTheLastStateDespiteAShortHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{History: 2})
		d := observe(t, leases)
		for _, holder := range []string{"a", "b", "c"} {
			for _, other := range []string{"x", "y", "z", holder} {
				hold(t, leases, other, time.Minute, time.Now())
			}
			synctest.Wait()
		}
		entries := d.take()
		for _, holder := range []string{"a", "b", "c"} {
			assert.Contains(t, entries, fmt.Sprintf("0s %q 0", holder))
		}
	})
}

func TestObserveEndsWithItsContextOrTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		leases := In(st)
		hold(t, leases, "a", time.Minute, time.Now())
		d := observe(t, leases)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for _, err := range Observe(ctx, leases, namespace, name) {
			if err != nil {
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			}
		}
		assert.Equal(t, 1, st.Watchers())
		for h, err := range Observe(t.Context(), leases, namespace, name) {
			assert.NoError(t, err)
			assert.Equal(t, Holding{Holder: "a", FencingToken: 1001}, h)
			break
		}
		assert.Equal(t, 1, st.Watchers(), "a loop that ends early leaves no watch")
		st.Close()
		assert.ErrorIs(t, <-d.done, store.ErrClosed)
	})
}

// The Lease expires during a long loop body.
func TestSlowObserverStillGetsTheExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		hold(t, leases, "a", 15*time.Second, time.Now())
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // a watch lasts longer
		defer cancel()
		var holders []string
		for h, err := range Observe(ctx, leases, namespace, name) {
			if err != nil {
				break
			}
			holders = append(holders, h.Holder)
			time.Sleep(time.Minute)
		}
		assert.Equal(t, []string{"a", ""}, holders)
	})
}
