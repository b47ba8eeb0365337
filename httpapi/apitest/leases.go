package apitest

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// leases finds Leases that two clients held at the same time.
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
			v.out.TwoHolders = append(v.out.TwoHolders, newFinding(audits[k].timeline(), "two held the Lease %s at once: %s", objectPath(k.namespace, k.name), o))
		}
	}
}

// onward turns the times of a clock that may be set back into times that only
// increase. A fork inside a synctest bubble has such a clock.
type onward struct {
	last time.Time
	back time.Duration // how far it was set back
}

// shows converts a time of the clock.
func (o *onward) shows(at time.Time) time.Time {
	at = at.Add(o.back)
	if at.Before(o.last) {
		o.back += o.last.Sub(at)
		at = o.last
	}
	o.last = at
	return at
}

// leaseAudit is an audit of one Lease and its timeline.
type leaseAudit struct {
	lease.Audit
	lines  []string
	holder string // of the last line
	start  time.Time
	first  time.Time // of the last line: the time of its first change
	last   time.Time // and of its last
	writes int
}

// see adds a change.
func (a *leaseAudit) see(c registry.RecordedChange) (lease.Overlap, bool) {
	l := c.New.Wire(0).(*lease.Lease)
	text := "nobody"
	switch holder := l.Spec.HolderIdentity; {
	case c.Type == watch.Deleted:
		text, l = "deleted", nil
	case holder != nil && *holder != "":
		text = fmt.Sprintf("%q", *holder)
		if seconds := l.Spec.LeaseDurationSeconds; seconds != nil {
			text += fmt.Sprintf(" for %ds", *seconds)
		}
	}
	a.note(text, c.At)
	return a.See(l, c.At)
}

// note adds a line to the timeline, or extends the last.
func (a *leaseAudit) note(holder string, at time.Time) {
	if a.start.IsZero() {
		a.start = at
	}
	if a.writes > 0 && a.holder == holder {
		a.last = at
		a.writes++
		return
	}
	a.flush()
	a.holder, a.first, a.last, a.writes = holder, at, at, 1
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

// timelineLines is how many lines of a timeline are shown.
const timelineLines = 10

// timeline shows the holders up to now.
func (a *leaseAudit) timeline() []string {
	a.flush()
	defer func() { a.lines = a.lines[:len(a.lines)-1] }()
	lines := a.lines[max(0, len(a.lines)-timelineLines):]
	if left := len(a.lines) - len(lines); left > 0 {
		lines = append([]string{fmt.Sprintf("(%d before)", left)}, lines...)
	}
	return slices.Clone(lines)
}
