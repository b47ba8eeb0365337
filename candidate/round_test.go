package candidate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A candidate whose last answer came too late may still take part in a round: it is pinged again.
func TestARoundWaitsForACandidateThatAnsweredLate(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	late := &entrant{c: offer("late", "1.0.0", "1.0.0"), seen: now, silences: 1}
	c := contest{round: now.Add(-time.Second), entrants: []*entrant{late}}
	var v verdict
	assert.True(t, c.awaitsAnswers(&v, now, &o))
	assert.Empty(t, v.ping, "an answer at this time could not be told from the one before")
	assert.Equal(t, now.Add(minPingDelay), c.due)
	assert.True(t, c.awaitsAnswers(&v, now.Add(minPingDelay), &o))
	assert.Equal(t, []*entrant{late}, v.ping)
	assert.False(t, c.awaitsAnswers(&v, c.round.Add(o.PingWindow), &o), "the round has an end")
}
