package apitest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// A controller that writes without end would stop the time of its bubble.
func TestClientWithoutPauseIsFoundAndSlowed(t *testing.T) {
	var message string
	synctest.Test(t, func(t *testing.T) {
		f := &failing{TB: t}
		api := apitest.New(f, apitest.Options{MaxRequestsPerInstant: 50})
		doorTo(api).create(t, "a")
		ctx, cancel := context.WithCancel(t.Context())
		sent := make(chan int)
		go func() {
			d, n := doorFor(api, "busy"), 0
			for ; ctx.Err() == nil; n++ {
				d.do(t, "GET", leasesA, "")
			}
			sent <- n
		}()
		other := doorFor(api, "other")
		for range 10 {
			time.Sleep(10 * time.Second)
			start := time.Now()
			other.do(t, "GET", leasesA, "")
			assert.Zero(t, time.Since(start), "another client")
		}
		cancel()
		assert.InDelta(t, 150, <-sent, 2, "a request in each second after the first 50")
		message = f.message
	})
	assert.Equal(t, `apitest: client "busy" sent more than 50 requests at one instant, the last one was get `+leasesA+
		`: in a bubble this stops the time; its requests now take a second each`, message)
}

func TestBoundOfAnInstantCanBeOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t, apitest.Options{MaxRequestsPerInstant: -1})
		start := time.Now()
		for range 60 {
			d.do(t, "GET", leasesA, "")
		}
		assert.Zero(t, time.Since(start))
	})
}

// Many requests in a minute are no matter, if time passes between them.
func TestClientWithPausesIsNotSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t, apitest.Options{MaxRequestsPerInstant: 5})
		start := time.Now()
		for range 100 {
			for range 5 {
				d.do(t, "GET", leasesA, "")
			}
			time.Sleep(time.Millisecond)
		}
		assert.Equal(t, 100*time.Millisecond, time.Since(start))
	})
}
