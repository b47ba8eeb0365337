package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// This file waits for the rests of runs with programs, in real time.

// movedLocked notes that something goes on without a write.
func (l *life) movedLocked() { l.moved = l.since(time.Now()) }

// restsNotBefore keeps the run from a rest for a time.
func (l *life) restsNotBefore(d time.Duration) {
	if !l.x.pace.real {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = max(l.until, l.since(time.Now())+d)
}

// readLocked notes that a controller reads something, and whether it has read the same before.
func (l *life) readLocked(controller int, t target) {
	if (t.verb == "get" || t.verb == "list") && t.resource != "leases" {
		l.asked = l.since(time.Now())
		l.polls[controller] = l.polls[controller] || t.nth > 1
	}
}

// pulseLocked notes that a controller asks for a write. If that changes nothing, or nothing but times, it is at work all the same.
func (l *life) pulseLocked(t target) {
	if slices.Contains(writeVerbs(), t.verb) && t.resource != "leases" && !isEvent(t.resource) {
		now := l.since(time.Now())
		l.pausedLocked(now)
		l.pulse = now
	}
}

// realRest waits until nothing is written for the quiet while each program lives and watches what it watches undisturbed, and keeps the state. It
// reports whether the run goes on.
func (l *life) realRest(ctx context.Context, step int, extra string) bool {
	began := l.since(time.Now())
	l.mu.Lock()
	l.restFrom = began
	l.mu.Unlock()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	var waited time.Duration // for programs to be there
	lulled, seen := false, time.Now()
	lacks := l.lacks()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		l.x.gate.see(time.Since(seen) - glance)
		seen = time.Now()
		l.progress.Add(1)
		l.counted()
		l.mu.Lock()
		now := l.since(time.Now())
		stops := l.runaway || l.fault != "" || l.plan == nil && len(l.found) > 0
		quiet := l.quietLocked()
		last := max(l.wrote, l.moved, began)
		if l.asked > last {
			last = min(l.asked, last+(reading-1)*quiet)
		}
		early := now < l.until
		missing := l.missingLocked(step, extra)
		writing, at := l.last, l.wrote
		l.mu.Unlock()
		if missing == "" {
			waited = now
		}
		lulled = lulled || now-last >= leastQuiet
		lack := lacks.since(last, quiet, now)
		start := l.x.pace.start + min(lacks.all(), mostLack*l.x.pace.start)
		switch {
		case stops:
			return false
		case missing != "" && now-max(waited, began) > start && l.plan == nil:
			l.fail(missing + l.lastOutputs())
			return false
		case early || missing != "" && now-max(waited, began) <= start:
		case now-last >= quiet+lack:
			l.collectLog()
			l.check(ctx, step, extra)
			return true
		case now-began > l.patienceFor(quiet, lulled)+start-l.x.pace.start:
			text := fmt.Sprintf("nothing comes to rest in %s: it writes without end, or reads without end; the last change, %s ago, was: %s",
				l.x.s.stepName(step), (now - at).Round(time.Millisecond), writing)
			if l.plan == nil {
				l.fail(text + l.lastOutputs())
			} else {
				l.find("rest", key{"controller", "rest"}, text)
			}
			return false
		}
	}
}

// patienceFor returns how long a run may take to come to rest. An undisturbed one that was not quiet for a second yet will never be.
func (l *life) patienceFor(quiet time.Duration, lulled bool) time.Duration {
	switch {
	case l.plan == nil && !lulled:
		return l.x.pace.start
	case l.plan == nil:
		return max(l.x.pace.start, 3*quiet)
	}
	return max(2*l.x.pace.start, 10*quiet)
}

// quietLocked returns how long nothing may be written before a rest. After something went wrong for a request, a program may wait before it
// tries again.
func (l *life) quietLocked() time.Duration {
	quiet := l.x.pace.quiet
	if l.plan == nil || l.acts == 0 {
		return quiet
	}
	switch {
	case l.patient:
		quiet = max(patientQuiets*quiet, longQuiet)
	case l.actedIn == len(l.rests):
		quiet *= 2
	}
	if l.plan.action == answer429 && l.actedIn == len(l.rests) {
		quiet += time.Second // the answer asks for it
	}
	return quiet
}

// missingLocked returns what a program has not done yet without which it cannot be at rest, or "".
func (l *life) missingLocked(step int, extra string) string {
	watched := l.watchedLocked()
	for i := range l.x.s.Controllers {
		c := &l.x.s.Controllers[i]
		if c.Command == nil || l.hold != nil && l.plan.concerns(c) {
			continue
		}
		open, asked, alive := watched[i], 0, 0
		for _, p := range l.processes {
			if p.controller == i && p.dead.Err() == nil {
				alive++
				asked += p.requests()
			}
		}
		switch {
		case alive < c.replicas():
			return c.name() + " does not run"
		case asked == 0:
			return fmt.Sprintf("%s has sent no request to the server within %s: it must read $KUBECONFIG, or an argument with {kubeconfig}", c.name(), l.x.pace.start)
		case len(l.x.references) == 0 && len(open) == 0 && !l.polls[i]:
			return fmt.Sprintf("%s has opened no watch and asks for nothing again within %s, after %d requests", c.name(), l.x.pace.start, asked)
		}
		for _, path := range l.x.watchedAt(i, step, extra) {
			if !open[path] {
				return c.name() + " does not watch " + path
			}
		}
	}
	return ""
}

// watchedAt returns the paths that a controller watches at a rest of all undisturbed runs.
func (x *explorer) watchedAt(controller, step int, extra string) (paths []string) {
	for i, l := range x.references {
		at, _ := l.restOf(&rest{step: step, extra: extra})
		if i == 0 {
			paths = slices.Sorted(maps.Keys(at.watched[controller]))
			continue
		}
		paths = slices.DeleteFunc(paths, func(path string) bool { return !at.watched[controller][path] })
	}
	return paths
}

// watchedLocked returns the paths that programs watch now, by controller.
func (l *life) watchedLocked() map[int]map[string]bool {
	all := map[int]map[string]bool{}
	for w, n := range l.watching {
		p := l.processes[w.process]
		if n > 0 && p != nil && p.dead.Err() == nil {
			if all[p.controller] == nil {
				all[p.controller] = map[string]bool{}
			}
			all[p.controller][w.path] = true
		}
	}
	return all
}

// awaitWatches waits until all programs watch what they watch undisturbed at the last rest, or for some time.
func (l *life) awaitWatches(ctx context.Context) {
	for range int(l.x.pace.start / glance) {
		l.mu.Lock()
		n := max(0, len(l.rests)-1)
		missing := l.x.pace.real && len(l.rests) > 0 && l.missingLocked(l.rests[n].step, l.rests[n].extra) != ""
		l.mu.Unlock()
		if !missing || ctx.Err() != nil {
			return
		}
		time.Sleep(glance)
	}
}

// outputs returns what the programs of the run have written, in the order of their starts.
func (l *life) outputs() (all []Output) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.started {
		if p.output != nil {
			all = append(all, Output{p.name, p.output.String()})
		}
	}
	return all
}

// lastOutputs returns the last lines of them as text.
func (l *life) lastOutputs() string {
	var b strings.Builder
	for _, o := range l.outputs() {
		fmt.Fprintf(&b, "\n  output of %s%s", o.Name, lastLines(o.Text))
	}
	return b.String()
}
