package main

import "time"

// health is the state of one process, as seen from outside.
type health struct {
	name string
	// clear tells that its link does what it should, since when.
	clear      bool
	clearSince time.Time
	// flaky tells that some of its requests fail: it may lead all the same.
	flaky bool
	// watches is how many watches are open.
	watches int
	// exists and owes are the state of its candidate in the store: a ping is
	// unanswered. answered tells that since the link is clear it has had no
	// ping before it, or has answered it.
	exists, owes, answered bool

	// sound is all of this together; wasSound is for a watch that is followed
	// by the next one in the same moment.
	sound               bool
	since, until, began time.Time
	// reported tells that its recovery was found to take too long.
	reported bool
}

// settle computes sound.
func (h *health) settle(now time.Time) {
	if !h.clear {
		h.answered = false
	} else if h.exists && !h.owes {
		h.answered = true
	}
	sound := h.clear && h.watches > 0 && h.exists && h.answered
	switch {
	case sound && !h.sound:
		h.since = now
		if now.Equal(h.until) {
			h.since = h.began
		}
	case !sound && h.sound:
		h.until, h.began = now, h.since
	}
	h.sound = sound
}
