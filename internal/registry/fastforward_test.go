package registry_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// newManualStore returns a store whose clock is moved by hand.
func newManualStore(t testing.TB, opts registry.Options) (*registry.Store, *clock.Manual) {
	m := clock.NewManual(epoch)
	opts.Clock = m
	return newStoreWith(t, opts), m
}

// reader reads a watch in a goroutine of its own and hands on one event at a time, outside of any bubble.
type reader struct {
	m      *clock.Manual
	events chan string
	end    error // set before events is closed
}

func read(t testing.TB, st *registry.Store, m *clock.Manual, opts registry.WatchOptions) *reader {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := leaseResource(st).Watch(ctx, opts)
	require.NoError(t, err)
	r := &reader{m, make(chan string), nil}
	go func() {
		defer close(r.events)
		defer w.Close()
		for {
			events, err := w.Next(ctx)
			if err != nil {
				r.end = err
				return
			}
			for _, ev := range events {
				select {
				case r.events <- m.Now().Sub(epoch).String() + " " + eventText(ev):
				case <-ctx.Done():
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range r.events {
		}
	})
	return r
}

func TestFastForwardBringsBookmarks(t *testing.T) {
	st, m := newManualStore(t, registry.Options{})
	opts := fromNow()
	opts.AllowWatchBookmarks, opts.Namespace = true, "ns"
	r := read(t, st, m, opts)
	createAll(t, leasesIn(st), "other/a")
	m.FastForward(time.Minute)
	assert.Equal(t, "1m0s BOOKMARK @1001", <-r.events)
	createAll(t, leasesIn(st), "ns/a")
	assert.Equal(t, "1m0s ADDED ns/a@1002", <-r.events)
	m.FastForward(time.Minute)
	assert.Equal(t, "2m0s BOOKMARK @1002", <-r.events)
	assert.Empty(t, r.events)
}

// The first bookmark is due when there is nothing to report yet.
func TestFastForwardWaitsForTheWatchThatItWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, m := newManualStore(t, registry.Options{})
		opts := fromNow()
		opts.AllowWatchBookmarks, opts.Namespace = true, "ns"
		rec := record(t, st, opts)
		synctest.Wait()
		m.AfterFunc(time.Minute+time.Second, func() { createAll(t, leasesIn(st), "other/a") })
		m.FastForward(2*time.Minute - time.Second)
		assert.Empty(t, rec.take())
		m.FastForward(time.Second)
		assert.Equal(t, []string{"BOOKMARK @1001"}, rec.take())
	})
}

func TestFastForwardEndsWatches(t *testing.T) {
	for _, timeout := range []time.Duration{90 * time.Second, time.Hour} {
		t.Run(timeout.String(), func(t *testing.T) {
			st, m := newManualStore(t, registry.Options{})
			opts := fromNow()
			opts.Timeout = timeout
			r := read(t, st, m, opts)
			m.FastForward(timeout / 2)
			createAll(t, leasesIn(st), "ns/a")
			assert.Contains(t, <-r.events, "ADDED ns/a@1001", "it goes on at half of its time")
			m.FastForward(timeout - timeout/2)
			_, more := <-r.events
			assert.False(t, more)
			assert.Equal(t, io.EOF, r.end)
		})
	}
}

func TestFastForwardDoesNotEndAWatchWithoutATimeout(t *testing.T) {
	st, m := newManualStore(t, registry.Options{})
	r := read(t, st, m, fromNow())
	m.FastForward(48 * time.Hour)
	createAll(t, leasesIn(st), "ns/a")
	assert.Equal(t, "48h0m0s ADDED ns/a@1001", <-r.events)
}

// The clock waits for a watch that has been woken, not for who reads it.
func TestFastForwardDoesNotWaitForReaders(t *testing.T) {
	st, m := newManualStore(t, registry.Options{})
	opts := fromNow()
	opts.AllowWatchBookmarks = true
	r := read(t, st, m, opts)
	createAll(t, leasesIn(st), "ns/a", "ns/b")
	m.FastForward(10 * time.Minute)
	assert.Equal(t, epoch.Add(10*time.Minute).UTC(), m.Now().UTC(), "though nobody has taken the event")
	assert.Contains(t, <-r.events, "ns/a@1001")
}

func TestFastForwardMakesHistoryOld(t *testing.T) {
	st, m := newManualStore(t, registry.Options{HistoryAge: time.Minute})
	leases := leasesIn(st)
	createAll(t, leases, "ns/a")
	m.FastForward(time.Minute)
	mustModify(t, leases, "ns/a", holder("b"))
	_, _, err := leases.List(t.Context(), registry.ListOptions{ResourceVersion: "1000", ResourceVersionMatch: registry.MatchExact})
	require.NoError(t, err, "as old as history may be")
	m.FastForward(1)
	_, _, err = leases.List(t.Context(), registry.ListOptions{ResourceVersion: "1000", ResourceVersionMatch: registry.MatchExact})
	require.ErrorIs(t, err, store.ErrExpired)
	_, _, err = leases.List(t.Context(), registry.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: registry.MatchExact})
	require.NoError(t, err)
}

func TestFastForwardStampsObjects(t *testing.T) {
	st, m := newManualStore(t, registry.Options{})
	leases := leasesIn(st)
	m.FastForward(time.Hour)
	created := mustCreate(t, leases, newLease("ns/a", finalizers("a/f")))
	assert.Equal(t, epoch.Add(time.Hour).Truncate(time.Second).UTC(), created.CreationTimestamp.UTC())
	m.FastForward(time.Hour)
	deleted := mustDelete(t, leases, "ns/a")
	assert.Equal(t, epoch.Add(2*time.Hour).Truncate(time.Second).UTC(), deleted.DeletionTimestamp.UTC())
	assert.Equal(t, m.Now(), st.Now())
}

// signalling is a clock that tells when somebody has begun to wait for a time.
type signalling struct {
	*clock.Manual
	set chan time.Duration
}

func (s signalling) AfterFunc(d time.Duration, f func()) clock.Timer {
	defer func() { s.set <- d }()
	return s.Manual.AfterFunc(d, f)
}

func TestFastForwardEndsTheWaitForAVersionToCome(t *testing.T) {
	c := signalling{clock.NewManual(epoch), make(chan time.Duration, 1)}
	st := newStoreWith(t, registry.Options{Clock: c})
	done := make(chan error, 1)
	go func() {
		_, err := leaseResource(st).Get(t.Context(), "ns", "a", "2000")
		done <- err
	}()
	assert.Equal(t, 3*time.Second, <-c.set)
	c.FastForward(3*time.Second - 1)
	assert.Empty(t, done)
	c.FastForward(1)
	assertStatus(t, <-done, 504, store.ErrTimeout, "Timeout: Too large resource version: 2000, current: 1000")
}
