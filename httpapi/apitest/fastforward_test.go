package apitest_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// forward moves the clock of an API in a bubble, when nothing else happens there, and waits for what
// that causes.
func forward(api *apitest.API, d time.Duration) {
	synctest.Wait()
	api.FastForward(d)
	synctest.Wait()
}

// Through a transport and over a socket, outside of any bubble: the times of a watch are known when
// its answer begins.
func TestFastForwardEndsAWatch(t *testing.T) {
	test := func(t *testing.T, d *door) {
		s := d.watch(t, leases+"?watch=true&resourceVersion=1000&allowWatchBookmarks=true&timeoutSeconds=90")
		d.create(t, "a")
		assert.Equal(t, "ADDED a", s.next())
		d.FastForward(time.Minute)
		assert.Equal(t, "BOOKMARK ", s.next())
		d.FastForward(28 * time.Second)
		assert.Equal(t, "BOOKMARK ", s.next(), "its version is the current one")
		d.FastForward(2 * time.Second)
		assert.Equal(t, "0 bytes, EOF", s.next())
	}
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

func TestFastForwardReleasesDelayedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := doorTo(byHand(t, 0))
		for _, name := range []string{"a", "b", "c"} {
			d.create(t, name)
		}
		d.Fault(apitest.SlowEvents(time.Minute), apitest.Match{Verb: "watch"})
		s := d.watch(t, leases+"?watch=true")
		for _, want := range []string{"ADDED a", "ADDED b", "ADDED c"} {
			forward(d.API, time.Minute)
			assert.Equal(t, want, s.next())
		}
		d.create(t, "d")
		forward(d.API, time.Minute)
		assert.Equal(t, "ADDED d", s.next())
	})
}

func TestFastForwardEndsAWatchWithDelayedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := doorTo(byHand(t, 0))
		d.Fault(apitest.SlowEvents(time.Minute), apitest.Match{Verb: "watch"})
		s := d.watch(t, leases+"?watch=true&resourceVersion=1000&timeoutSeconds=90")
		d.create(t, "a")
		synctest.Wait()
		d.create(t, "b")
		forward(d.API, time.Minute)
		assert.Equal(t, "ADDED a", s.next())
		forward(d.API, time.Minute) // past the end of the watch
		assert.Equal(t, "ADDED b", s.next())
		assert.Equal(t, "0 bytes, EOF", s.next())
	})
}

func TestFastForwardEndsWatchesThatWaitForTheirVersion(t *testing.T) {
	for name, stale := range map[string]*apitest.StaleOptions{"of the server": nil, "of a replica": {}, "of a replica that follows": {Age: time.Minute}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := doorTo(byHand(t, 0))
				d.create(t, "a")
				if stale != nil {
					d.Fault(apitest.Stale(*stale))
					d.create(t, "b")
				}
				done := make(chan answer, 1)
				go func() {
					done <- d.do(t, "GET", leases+"?watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=1002", "")
				}()
				forward(d.API, 3*time.Second-1)
				assert.Empty(t, done)
				forward(d.API, 1)
				assert.Contains(t, (<-done).String(), "Too large resource version: 1002, current: ")
			})
		})
	}
}

func TestFastForwardEndsADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := doorTo(byHand(t, 0))
		delay := d.Fault(apitest.Delay(time.Hour), apitest.Match{Verb: "create"})
		done := make(chan answer, 1)
		go func() { done <- d.do(t, "POST", leases, leaseNamed("a")) }()
		forward(d.API, time.Hour-1)
		assert.Equal(t, "create leases default/a pending", d.Requests()[0].String())
		forward(d.API, 1)
		a := <-done
		assert.Equal(t, http.StatusCreated, a.code, a)
		assert.Equal(t, 1, delay.Hits())
	})
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
