package candidate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
