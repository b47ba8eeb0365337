package apitest

import (
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
)

func (v *examiner) findTwoHolders() {
	audits := map[objectName]*lease.Audit{}
	var clock onward
	forks := v.forks
	for _, c := range v.changes {
		if !c.isLease() {
			continue
		}
		for ; len(forks) > 0 && forks[0].version < c.Version; forks = forks[1:] {
			clock.shows(forks[0].at)
		}
		o := objectOf(c)
		if audits[o] == nil {
			audits[o] = &lease.Audit{}
		}
		if overlap, found := audits[o].See(leaseOf(c.New), clock.shows(c.At)); found {
			text := fmt.Sprintf("two held the Lease %s at once: %s", objectPath(o.namespace, o.name), overlap)
			v.out.TwoHolders = append(v.out.TwoHolders, Finding{text, v.excerpt(o, c.Version)})
		}
	}
}

func (c *change) isLease() bool { return c.Kind() == kinds.Of(lease.Kind()) }

func leaseOf(it *registry.Item) *lease.Lease {
	if it == nil {
		return nil
	}
	return it.Wire().(*lease.Lease)
}

// holderOf returns the holder of a Lease, or "". it may be nil.
func holderOf(it *registry.Item) string {
	if l := leaseOf(it); l != nil && l.Spec.HolderIdentity != nil {
		return *l.Spec.HolderIdentity
	}
	return ""
}

func heldBy(it *registry.Item) string {
	id, seconds := holderOf(it), leaseOf(it).Spec.LeaseDurationSeconds
	switch {
	case id == "":
		return "held by nobody"
	case seconds == nil:
		return fmt.Sprintf("held by %q", id)
	}
	return fmt.Sprintf("held by %q for %ds", id, *seconds)
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
