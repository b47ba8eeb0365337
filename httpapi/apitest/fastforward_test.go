package apitest_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// forward moves the clock of an API in a bubble, when nothing else happens there, and waits for what
// that causes.
func forward(api *apitest.API, d time.Duration) {
	synctest.Wait()
	api.FastForward(d)
	synctest.Wait()
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

func TestFastForwardNeedsAManualClock(t *testing.T) {
	assert.Equal(t, "apitest: FastForward(1m0s): got a clock that moves by itself: set Options.Store.Clock to clock.NewManual(...), or run the test inside testing/synctest and call time.Sleep",
		failure(t, func(t testing.TB) { apitest.New(t).FastForward(time.Minute) }))
	assert.Equal(t, "apitest: FastForward(-1m0s): want zero or more, time does not go back",
		failure(t, func(t testing.TB) { byHand(t, 0).FastForward(-time.Minute) }))
}
