package httpapi

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The check of the backlog reads when a write began, and the write may end before the check
// pauses its watch. Nobody would resume the watch.
func TestWatchWhoseWriteHasEndedIsNotPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := New(st, Options{})
		defer api.Close()
		w, err := api.resources[0].Watch(t.Context(), registry.WatchOptions{ResourceVersion: "1000"})
		require.NoError(t, err)
		defer w.Close()
		g := &stallGuard{call: &call{api: api}, w: w}
		g.begin([]byte("frame"))
		since := g.since.Load()
		g.end()
		assert.False(t, g.pauseLocked(since))
		_, err = lease.In(st).Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		events, err := w.Next(ctx)
		require.NoError(t, err)
		assert.Len(t, events, 1)
	})
}
