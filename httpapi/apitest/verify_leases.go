package apitest

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// leases finds Leases that two held at once.
func (v *verifier) leases() {
	audits := map[objectKey]*leaseAudit{}
	var clock onward
	forks := v.Forks
	for _, i := range v.byResource[v.resources[meta.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}]] {
		c := v.Changes[i]
		for ; len(forks) > 0 && forks[0].Version < c.Version; forks = forks[1:] {
			clock.shows(forks[0].At)
		}
		c.At = clock.shows(c.At)
		k := keyOf(c.Resource, c.New)
		if audits[k] == nil {
			audits[k] = &leaseAudit{}
		}
		if o, found := audits[k].see(c); found {
			v.find(TwoHolders, audits[k].timeline(), "two held the Lease %s at once: %s", objectPath(k.namespace, k.name), o)
		}
	}
}

// onward is the time by a clock that may be set back: time does not. So is that of
// a fork inside a bubble, of what was made outside of it.
type onward struct {
	last time.Time
	back time.Duration // how far it was set back
}

// shows returns the time when the clock shows one.
func (o *onward) shows(at time.Time) time.Time {
	at = at.Add(o.back)
	if at.Before(o.last) {
		o.back += o.last.Sub(at)
		at = o.last
	}
	o.last = at
	return at
}

// leaseAudit is what is known of one Lease.
type leaseAudit struct {
	lease.Audit
	lines  []string
	holder string // of the last line
	start  time.Time
	first  time.Time // of the last line: when its first change was made
	last   time.Time // and its last
	writes int
}

// see takes in a change.
func (a *leaseAudit) see(c store.RecordedChange) (lease.Overlap, bool) {
	l := c.New.Wire(0).(*lease.Lease)
	what := "nobody"
	switch holder := l.Spec.HolderIdentity; {
	case c.Type == watch.Deleted:
		what, l = "deleted", nil
	case holder != nil && *holder != "":
		what = fmt.Sprintf("%q", *holder)
		if seconds := l.Spec.LeaseDurationSeconds; seconds != nil {
			what += fmt.Sprintf(" for %ds", *seconds)
		}
	}
	a.note(what, c.At)
	return a.See(l, c.At)
}

// note adds a line to the timeline, or goes on with the last.
func (a *leaseAudit) note(what string, at time.Time) {
	if a.start.IsZero() {
		a.start = at
	}
	if a.writes > 0 && a.holder == what {
		a.last = at
		a.writes++
		return
	}
	a.flush()
	a.holder, a.first, a.last, a.writes = what, at, at, 1
}

func (a *leaseAudit) flush() {
	if a.writes == 0 {
		return
	}
	line := fmt.Sprintf("%12s  %s", a.first.Sub(a.start), a.holder)
	if a.writes > 1 {
		line += fmt.Sprintf(", renewed %d times, last at %s", a.writes-1, a.last.Sub(a.start))
	}
	a.lines = append(a.lines, line)
}

// timelineLines is how much of a timeline is shown.
const timelineLines = 10

// timeline shows who held the Lease up to now, the last lines of it.
func (a *leaseAudit) timeline() []string {
	a.flush()
	defer func() { a.lines = a.lines[:len(a.lines)-1] }()
	lines := a.lines[max(0, len(a.lines)-timelineLines):]
	if left := len(a.lines) - len(lines); left > 0 {
		lines = append([]string{fmt.Sprintf("(%d before)", left)}, lines...)
	}
	return slices.Clone(lines)
}
