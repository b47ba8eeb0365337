package memory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const start2026 = "2026-01-01T00:00:00Z"

func startStanding(t *testing.T) tester {
	return startDebug(t, func(c *config) { c.clock = start2026 })
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
	assert.Equal(t, start2026, now(fork), "each fork has a time of its own")
	assert.Equal(t, "2026-01-01T01:00:00Z", now(d.fork("")))
	d.must(200, "POST", "/debug/reset", "", nil)
	assert.Equal(t, start2026, now(d))
}
