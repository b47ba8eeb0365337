package exact

import (
	"slices"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// checkWatch checks a watch. The store had at most version ceiling when it ended.
func (c *checker) checkWatch(w *Watched, ceiling uint64) {
	sc := w.Options.scope()
	from := version(w.Options.Version)
	events := w.Events
	switch {
	case w.Options.Initial:
		from, events = c.checkInitial(w, sc)
	case from == 0:
		from, events = c.checkSynthetic(w, sc)
	}
	if from == never {
		return
	}
	seen := c.checkEvents(w, sc, from, events)
	if w.Err != nil && reason(w.Err) == meta.ReasonExpired {
		c.checkExpired(w, seen, ceiling)
	} else if r := reason(w.Err); r != "" && (r != meta.ReasonTooManyRequests || !c.swaps(w.Begin, w.End)) {
		c.find("a watch ended unexpectedly: %s", w)
	}
}

// checkInitial checks the initial events of a watch and the bookmark after them. It returns the version of the bookmark and the events
// after it, or never if the watch ended before.
func (c *checker) checkInitial(w *Watched, sc scope) (uint64, []Event) {
	n := slices.IndexFunc(w.Events, func(e Event) bool { return e.InitialEnd })
	if n < 0 {
		if w.Complete > 0 {
			c.find("a watch has no end of its initial events: %s", w)
		}
		return never, nil
	}
	from := w.Events[n].State.Version
	if from > c.last() || from < max(c.first, version(w.Options.Version)) {
		c.find("initial events have a version that never was, %d: %s", from, w)
		return never, nil
	}
	if !isInitial(w.Events[:n], c.list(sc, from, "")) {
		c.find("the initial events are not the state at version %d: %s: %+v", from, w, w.Events[:n])
	}
	consistent := w.Options.Version == ""
	c.add(w.Begin, w.First, w, func(floor uint64) (uint64, bool) { return from, !consistent || from >= floor })
	return from, w.Events[n+1:]
}

// isInitial reports whether events add these objects.
func isInitial(events []Event, items []State) bool {
	var got []State
	for _, e := range events {
		if e.Type != watch.Added {
			return false
		}
		got = append(got, e.State)
	}
	return slices.Equal(got, items)
}

// checkSynthetic checks the initial events of a watch without a bookmark: they must be the state of one version, and the events
// after them the changes that follow it. It returns the lowest version that fits and the events after it.
func (c *checker) checkSynthetic(w *Watched, sc scope) (uint64, []Event) {
	if len(w.Events) == 0 && w.Complete == 0 {
		return never, nil
	}
	fits := func(v uint64) bool {
		items := c.list(sc, v, "")
		n := min(len(items), len(w.Events))
		if !isInitial(w.Events[:n], items[:n]) {
			return false
		}
		return c.firstWrong(sc, v, w.Events[n:]) == nil
	}
	lowest := func(floor uint64) uint64 {
		floor = max(floor, c.first, c.earliest(sc, w.Events))
		if fits(floor) {
			return floor
		}
		for _, ch := range c.Changes[c.after(floor):] {
			if !sc.has(ch.Old) && !sc.has(&ch.New) {
				continue // it changes no event
			}
			if fits(ch.Version) {
				return ch.Version
			}
			if len(w.Events) > 0 && ch.New.key() == w.Events[0].State.key() && ch.Version > w.Events[0].State.Version {
				return never // the first event is no longer the state, nor to come
			}
		}
		return never
	}
	from := lowest(0)
	if from == never {
		c.find("the events of a watch do not begin with the state of any version: %s: %+v", w, w.Events)
		return never, nil
	}
	if w.Options.Version == "" {
		c.add(w.Begin, max(w.First, w.Begin), w, func(floor uint64) (uint64, bool) {
			v := lowest(floor)
			return v, v != never
		})
	}
	// Where several versions fit, the last events decide whether the watch is complete.
	return from, w.Events[min(len(c.list(sc, from, "")), len(w.Events)):]
}

// earliest returns a version before which no watch with these events can begin: the first event is either of the state that the watch
// begins with, or of the next change after it.
func (c *checker) earliest(sc scope, events []Event) uint64 {
	if len(events) == 0 || events[0].Type == watch.Bookmark {
		return 0
	}
	for _, ch := range slices.Backward(c.Changes[:c.after(events[0].State.Version-1)]) {
		if sc.has(ch.Old) || sc.has(&ch.New) {
			return ch.Version
		}
	}
	return 0
}

// firstWrong returns the first event that is not the next one of a watch that begins after a version, or nil.
func (c *checker) firstWrong(sc scope, from uint64, events []Event) *Event {
	want := c.events(sc, from, len(events))
	for i, e := range events {
		if e.Type == watch.Bookmark {
			if e.State.Version < from || len(want) > 0 && want[0].State.Version <= e.State.Version {
				return &events[i]
			}
			from = e.State.Version
			continue
		}
		if len(want) == 0 || e != want[0] {
			return &events[i]
		}
		from, want = e.State.Version, want[1:]
	}
	return nil
}

// checkEvents checks the events of a watch that begins after a version, and returns the last version that it has seen.
func (c *checker) checkEvents(w *Watched, sc scope, from uint64, events []Event) uint64 {
	if e := c.firstWrong(sc, from, events); e != nil {
		c.find("an event is not the next change of its watch from version %d: %+v: %s", from, *e, w)
		return never
	}
	seen := from
	if len(events) > 0 {
		seen = events[len(events)-1].State.Version
		c.knows(w.End, w, seen)
	}
	if left := c.events(sc, seen, 1); len(left) > 0 && left[0].State.Version <= w.Complete {
		c.find("a watch misses the events from version %d on: %s", left[0].State.Version, w)
	}
	return seen
}
