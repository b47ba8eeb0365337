package candidate

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A candidate renews once and then does nothing. When FastForward returns, all consequences have happened, each at its time.
func TestFastForwardTakesAnElectorThroughItsTimes(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := clock.NewManual(start)
	st := store.New(store.Options{Clock: m})
	t.Cleanup(st.Close)
	events := make(chan string, 1000)
	e, err := NewElector(st, ElectorOptions{Log: func(ev ElectionEvent) {
		events <- ev.Time.Sub(start).String() + " " + string(ev.Type) + " " + ev.Candidate
	}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })

	// The Elector works while it logs.
	first := offer("first", "1.37.0", "1.37.0")
	first.Spec.LeaseName, first.Spec.RenewTime = "other", new(meta.NewMicroTime(start.Add(-time.Minute)))
	first.Spec.PingTime = new(meta.NewMicroTime(start.Add(-10 * time.Second)))
	_, err = In(st).Create(t.Context(), first, store.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "0s Silent first", <-events)
	_, err = In(st).Delete(t.Context(), "ns", "first", store.DeleteOptions{})
	require.NoError(t, err)
	for len(events) > 0 {
		<-events
	}

	c := offer("a", "1.37.0", "1.37.0")
	c.Spec.RenewTime = new(meta.NewMicroTime(start))
	_, err = In(st).Create(t.Context(), c, store.CreateOptions{})
	require.NoError(t, err)
	assert.Empty(t, events, "another candidate may be about to come")
	m.FastForward(200 * time.Millisecond)
	require.Equal(t, "200ms Elected a", <-events)
	l, err := lease.In(st).Get(t.Context(), "ns", "main")
	require.NoError(t, err)
	require.Equal(t, "a", *l.Spec.HolderIdentity)

	m.FastForward(5*time.Second - 1)
	assert.Empty(t, events)
	m.FastForward(1)
	assert.Equal(t, "5.2s Missed a", <-events, "it has not taken up the Lease, and others wait no longer")
	m.FastForward(time.Hour)
	seen := map[string]bool{}
	last := ""
	for len(events) > 0 {
		last = <-events
		seen[last] = true
	}
	for _, want := range []string{"5.2s Pinged a", "10.2s Silent a", "15.2s Pinged a", "35.2s Pinged a"} {
		assert.True(t, seen[want], "want %s, got %v", want, seen)
	}
	assert.Equal(t, "30m0s Collected a", last)
	_, err = In(st).Get(t.Context(), "ns", "a")
	assert.ErrorIs(t, err, store.ErrNotFound)
}
