package testapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
)

// Next returns the next event of a watch. It fails the test if the watch ends.
func Next(t testing.TB, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case ev, open := <-w.ResultChan():
		require.True(t, open, "the watch has ended")
		return ev
	case <-time.After(20 * time.Second):
		require.FailNow(t, "no event")
	}
	return watch.Event{}
}

// End waits for a watch to end without a further event.
func End(t testing.TB, w watch.Interface) {
	t.Helper()
	select {
	case ev, open := <-w.ResultChan():
		require.False(t, open, "event %v", ev)
	case <-time.After(20 * time.Second):
		require.FailNow(t, "the watch did not end")
	}
}
