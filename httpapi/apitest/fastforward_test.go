package apitest_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// eachManualDoor runs a test through a transport and over a socket, outside of any bubble.
func eachManualDoor(t *testing.T, test func(t *testing.T, d *door)) {
	t.Run("transport", func(t *testing.T) {
		api := byHand(t, 0)
		test(t, doorTo(api))
	})
	t.Run("socket", func(t *testing.T) {
		api := byHand(t, 0)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		test(t, &door{api, &http.Client{Transport: transport}, api.URL(), true})
	})
}

func TestFastForwardEndsAWatch(t *testing.T) {
	eachManualDoor(t, func(t *testing.T, d *door) {
		s := d.watch(t, leases+"?watch=true&resourceVersion=1000&allowWatchBookmarks=true&timeoutSeconds=90")
		d.create(t, "a")
		assert.Equal(t, "ADDED a", s.next())
		d.FastForward(time.Minute)
		assert.Equal(t, "BOOKMARK ", s.next())
		d.FastForward(28 * time.Second)
		assert.Equal(t, "BOOKMARK ", s.next(), "its version is the current one")
		d.FastForward(2 * time.Second)
		assert.Equal(t, "0 bytes, EOF", s.next())
	})
}

func TestFastForwardReleasesDelayedEvents(t *testing.T) {
	eachManualDoor(t, func(t *testing.T, d *door) {
		for _, name := range []string{"a", "b", "c"} {
			d.create(t, name)
		}
		d.Fault(apitest.SlowEvents(time.Minute), apitest.Match{Verb: "watch"})
		s := d.watch(t, leases+"?watch=true")
		for _, want := range []string{"ADDED a", "ADDED b", "ADDED c"} {
			d.FastForward(time.Minute)
			assert.Equal(t, want, s.next())
		}
		d.create(t, "d")
		d.FastForward(time.Minute)
		assert.Equal(t, "ADDED d", s.next())
	})
}

func TestFastForwardEndsAWatchWithDelayedEvents(t *testing.T) {
	c := signalling{clock.NewManual(start), make(chan time.Duration, 100)}
	api := apitest.New(t, apitest.Options{Store: store.Options{Clock: c}})
	d := doorTo(api)
	api.Fault(apitest.SlowEvents(time.Minute), apitest.Match{Verb: "watch"})
	s := d.watch(t, leases+"?watch=true&resourceVersion=1000&timeoutSeconds=90")
	d.create(t, "a")
	for <-c.set != time.Minute {
	}
	d.create(t, "b")
	api.FastForward(time.Minute)
	assert.Equal(t, "ADDED a", s.next())
	for <-c.set != time.Minute {
	}
	api.FastForward(time.Minute) // past the end of the watch
	assert.Equal(t, "ADDED b", s.next())
	assert.Equal(t, "0 bytes, EOF", s.next())
}

func TestFastForwardEndsWatchesThatWaitForTheirVersion(t *testing.T) {
	for name, stale := range map[string]*apitest.StaleOptions{"of the server": nil, "of a replica": {}, "of a replica that follows": {Age: time.Minute}} {
		t.Run(name, func(t *testing.T) {
			c := signalling{clock.NewManual(start), make(chan time.Duration, 100)}
			api := apitest.New(t, apitest.Options{Store: store.Options{Clock: c}})
			d := doorTo(api)
			d.create(t, "a")
			version := "1002"
			if stale != nil {
				api.Fault(apitest.Stale(*stale))
				d.create(t, "b")
			}
			done := make(chan answer, 1)
			go func() {
				done <- d.do(t, "GET", leases+"?watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion="+version, "")
			}()
			for <-c.set != 3*time.Second {
			}
			api.FastForward(time.Hour)
			assert.Contains(t, (<-done).String(), "Too large resource version: 1002, current: ")
		})
	}
}

// signalling is a clock that reports each new timer.
type signalling struct {
	*clock.Manual
	set chan time.Duration
}

func (s signalling) AfterFunc(d time.Duration, f func()) clock.Timer {
	defer func() { s.set <- d }()
	return s.Manual.AfterFunc(d, f)
}

func TestFastForwardEndsADelay(t *testing.T) {
	c := signalling{clock.NewManual(start), make(chan time.Duration, 1)}
	api := apitest.New(t, apitest.Options{Store: store.Options{Clock: c}})
	d := doorTo(api)
	delay := api.Fault(apitest.Delay(time.Hour), apitest.Match{Verb: "create"})
	done := make(chan answer, 1)
	go func() { done <- d.do(t, "POST", leases, leaseNamed("a")) }()
	assert.Equal(t, time.Hour, <-c.set)
	api.FastForward(time.Hour - 1)
	assert.Equal(t, "create leases default/a pending", api.Requests()[0].String())
	api.FastForward(1)
	_, err := lease.In(api.Store()).Get(t.Context(), "default", "a")
	assert.NoError(t, err, "the write is done by the time that FastForward returns")
	a := <-done
	assert.Equal(t, http.StatusCreated, a.code, a)
	assert.Equal(t, 1, delay.Hits())
}

// A Go client may measure its deadline by the same clock.
func TestFastForwardLetsAClientGiveUp(t *testing.T) {
	api := byHand(t, 0)
	hung := api.Fault(apitest.Hang(), apitest.Match{Verb: "list"})
	ctx, cancel := clock.WithDeadline(t.Context(), api.Store().Clock(), start.Add(time.Minute), context.DeadlineExceeded)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", api.Host()+leases, nil)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := api.Transport().RoundTrip(req)
		done <- err
	}()
	api.FastForward(time.Minute)
	require.Error(t, <-done)
	assert.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
	assert.LessOrEqual(t, hung.Hits(), 1)
}

func TestFastForwardMakesHistoryOld(t *testing.T) {
	api := apitest.New(t, apitest.Options{Store: store.Options{Clock: clock.NewManual(start), HistoryAge: time.Minute}})
	d := doorTo(api)
	d.create(t, "a")
	api.FastForward(2 * time.Minute)
	assert.Equal(t, "ERROR 410", d.watch(t, leases+"?watch=true&resourceVersion=1000").next())
	assert.Equal(t, meta.NewTime(start), meta.NewTime(api.Requests()[0].Time))
}

func TestFastForwardNeedsAManualClock(t *testing.T) {
	assert.Equal(t, "apitest: FastForward(1m0s): got a clock that moves by itself: set Options.Store.Clock to clock.NewManual(...), or run the test inside testing/synctest and call time.Sleep",
		failure(t, func(t testing.TB) { apitest.New(t).FastForward(time.Minute) }))
	assert.Equal(t, "apitest: FastForward(-1m0s): want zero or more, time does not go back",
		failure(t, func(t testing.TB) { byHand(t, 0).FastForward(-time.Minute) }))
}
