package verdict

import (
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/watch"
)

// findTwoHolders finds Leases that two clients held at the same time.
func (v *examiner) findTwoHolders() {
	audits := map[object]*leaseAudit{}
	var clock onward
	forks := v.Forks
	for _, c := range v.Changes {
		if c.Resource != v.leases {
			continue
		}
		for ; len(forks) > 0 && forks[0].Version < c.Version; forks = forks[1:] {
			clock.shows(forks[0].At)
		}
		c.At = clock.shows(c.At)
		o := objectOf(c.Resource, c.New)
		if audits[o] == nil {
			audits[o] = &leaseAudit{}
		}
		if overlap, found := audits[o].see(c); found {
			text := fmt.Sprintf("two held the Lease %s at once: %s", o.path(), overlap)
			v.out.TwoHolders = append(v.out.TwoHolders, Finding{text, audits[o].timeline()})
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

// leaseAudit is an audit of one Lease with the periods of its holders.
type leaseAudit struct {
	lease.Audit
	periods []period
}

// period is a time in which a Lease had the same holder and duration.
type period struct {
	holder      string // and the duration
	first, last time.Time
	writes      int
}

// see adds a change.
func (a *leaseAudit) see(c registry.RecordedChange) (lease.Overlap, bool) {
	l := c.New.Wire(0).(*lease.Lease)
	holder := "nobody"
	switch id := l.Spec.HolderIdentity; {
	case c.Type == watch.Deleted:
		holder, l = "deleted", nil
	case id != nil && *id != "":
		holder = fmt.Sprintf("%q", *id)
		if seconds := l.Spec.LeaseDurationSeconds; seconds != nil {
			holder += fmt.Sprintf(" for %ds", *seconds)
		}
	}
	if n := len(a.periods); n == 0 || a.periods[n-1].holder != holder {
		a.periods = append(a.periods, period{holder: holder, first: c.At})
	}
	p := &a.periods[len(a.periods)-1]
	p.last = c.At
	p.writes++
	return a.See(l, c.At)
}

// timelineLines is how many lines of a timeline are shown.
const timelineLines = 10

// timeline shows the last holders, one in each line.
func (a *leaseAudit) timeline() (lines []string) {
	left := max(0, len(a.periods)-timelineLines)
	if left > 0 {
		lines = append(lines, fmt.Sprintf("(%d before)", left))
	}
	start := a.periods[0].first
	for _, p := range a.periods[left:] {
		line := fmt.Sprintf("%12s  %s", p.first.Sub(start), p.holder)
		if p.writes > 1 {
			line += fmt.Sprintf(", renewed %d times, last at %s", p.writes-1, p.last.Sub(start))
		}
		lines = append(lines, line)
	}
	return lines
}
