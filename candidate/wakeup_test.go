package candidate

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestCoordinatorSleepsThroughRenewalsOfOtherLeases(t *testing.T) {
	in(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		e, err := NewCoordinator(st, CoordinatorOptions{})
		require.NoError(t, err)
		readings := 0
		e.clock = clockFunc{e.clock, func() { readings++ }}
		l, err := e.leases.Create(t.Context(), held("x"), store.CreateOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		synctest.Wait()
		before := readings
		l.Spec.RenewTime = new(meta.NewMicroTime(time.Now().Add(time.Second)))
		_, err = e.leases.Update(t.Context(), l, store.UpdateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, before, readings)
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestCoordinatorPassesOverOtherKinds(t *testing.T) {
	in(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		var once sync.Once
		e, err := NewCoordinator(st, CoordinatorOptions{Log: func(ElectionEvent) {
			once.Do(func() { // by the goroutine of the Coordinator, so that its next Poll returns all these changes
				_, err := In(st).Create(t.Context(), offer("c-2", "1.2.0", "1.2.0"), store.CreateOptions{})
				assert.NoError(t, err)
				other := endpoints.In(st)
				_, err = other.Create(t.Context(), &endpoints.Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"}}, store.CreateOptions{})
				assert.NoError(t, err)
				_, err = other.Delete(t.Context(), "ns", "main", store.DeleteOptions{})
				assert.NoError(t, err)
			})
		}})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		_, err = e.candidates.Create(t.Context(), offer("c-1", "1.1.0", "1.1.0"), store.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		_, err = e.leases.Get(t.Context(), "ns", "main")
		assert.NoError(t, err)
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}
