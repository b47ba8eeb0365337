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

// What follows from a candidate that is there and never does anything: all of it is told when FastForward returns, each at
// the moment that it is due.
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

	c := offer("a", "1.37.0", "1.37.0")
	c.Spec.RenewTime = new(meta.NewMicroTime(start))
	_, err = In(st).Create(c, store.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "0s Elected a", <-events)
	l, err := lease.In(st).Get("ns", "main")
	require.NoError(t, err)
	require.Equal(t, "a", *l.Spec.HolderIdentity)

	m.FastForward(5*time.Second - 1)
	assert.Empty(t, events)
	m.FastForward(1)
	assert.Equal(t, "5s Missed a", <-events, "it has not taken up the Lease, and others wait no longer")
	m.FastForward(time.Hour)
	told := map[string]bool{}
	last := ""
	for len(events) > 0 {
		last = <-events
		told[last] = true
	}
	for _, want := range []string{"5s Elected a", "10s Missed a", "10s Pinged a", "15s Silent a", "20s Pinged a", "40s Pinged a"} {
		assert.True(t, told[want], "want %s, got %v", want, told)
	}
	assert.Equal(t, "30m0s Collected a", last)
	_, err = In(st).Get("ns", "a")
	assert.ErrorIs(t, err, store.ErrNotFound)
}
