package memory

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const start2026 = "2026-01-01T00:00:00Z"

func startStanding(t *testing.T) tester {
	return startDebug(t, func(c *config) { c.clock = start2026 })
}

func TestTimePassesOnlyWhenItIsTold(t *testing.T) {
	d := startStanding(t)
	d.must(201, "POST", leases, named("a"), nil)
	var clock clockView
	d.must(200, "GET", "/debug/clock", "", &clock)
	assert.True(t, clock.Stands)
	d.must(200, "POST", "/debug/clock", `{"forward":"1h30m"}`, &clock)
	assert.Equal(t, time.Date(2026, 1, 1, 1, 30, 0, 0, time.UTC), clock.Now)
	d.must(201, "POST", leases, named("b"), nil)
	for name, want := range map[string]string{"a": start2026, "b": "2026-01-01T01:30:00Z"} {
		var l struct {
			Metadata struct{ CreationTimestamp string }
		}
		d.must(200, "GET", leases+"/"+name, "", &l)
		assert.Equal(t, want, l.Metadata.CreationTimestamp)
	}

	real := startDebug(t)
	real.must(200, "GET", "/debug/clock", "", &clock)
	assert.False(t, clock.Stands)
}

func TestWatchesTimeOutAndDelaysEndAtOnce(t *testing.T) {
	d := startStanding(t)
	resp, err := http.Get(d.url + leases + "?watch=true&timeoutSeconds=600")
	require.NoError(t, err)
	defer resp.Body.Close()
	d.must(201, "POST", "/debug/faults", `{"verb":"get","delay":"5m"}`, nil)
	held := make(chan int)
	go func() { held <- d.code("GET", leaseA, "") }()
	var requests struct{ Requests []struct{ Text string } }
	for len(requests.Requests) < 2 {
		d.must(200, "GET", "/debug/requests", "", &requests)
	}
	for open := true; open; { // until the request waits, and has waited
		d.must(200, "POST", "/debug/clock", `{"forward":"5m"}`, nil)
		select {
		case code := <-held:
			assert.Equal(t, 404, code)
			open = false
		default:
		}
	}
	d.must(200, "POST", "/debug/clock", `{"forward":"10m"}`, nil)
	_, err = io.ReadAll(resp.Body)
	require.NoError(t, err, "the watch has ended")
}

func TestResetTakesTheClockBack(t *testing.T) {
	d := startStanding(t)
	fork := d.fork("")
	d.must(200, "POST", "/debug/clock", `{"forward":"1h"}`, nil)
	now := func(d tester) string {
		var clock clockView
		d.must(200, "GET", "/debug/clock", "", &clock)
		return clock.Now.Format(time.RFC3339)
	}
	assert.Equal(t, "2026-01-01T01:00:00Z", now(d))
	assert.Equal(t, start2026, now(fork), "each world has a time of its own")
	assert.Equal(t, "2026-01-01T01:00:00Z", now(d.fork("")))
	d.must(200, "POST", "/debug/reset", "", nil)
	assert.Equal(t, start2026, now(d))
}
