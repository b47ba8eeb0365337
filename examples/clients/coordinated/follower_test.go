package main

import (
	"context"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// follower sees every change in the store by a watch, checks it, and counts.
type follower struct {
	*monitor

	mu       sync.Mutex // guards all below; locked before the mu of monitor
	last     *lease.Lease
	terms    int
	writes   map[string]int // by "lease", or the name of a candidate
	outsider string         // who of others than the expected one was seen to hold the Lease
	expected string
}

func newFollower(m *monitor) *follower { return &follower{monitor: m, writes: map[string]int{}} }

func (f *follower) run(ctx context.Context, st *store.Store) {
	stopLeases := inBackground(func(ctx context.Context) { follow(ctx, lease.In(st), f.takeLease) })
	defer stopLeases()
	follow(ctx, candidate.In(st), f.takeCandidate)
}

// follow passes on each change from the start until the context ends.
func follow[T any](ctx context.Context, c *store.Collection[T], take func(watch.EventType, *T)) {
	for ev, err := range c.Follow(ctx, store.WatchOptions{}) {
		if err != nil {
			return
		}
		take(ev.Type, ev.Object)
	}
}

// takeLease checks that nobody takes the Lease from another before it has run
// out by its own clock.
func (f *follower) takeLease(_ watch.EventType, l *lease.Lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes["lease"]++
	now, holder := time.Now(), holderOf(l)
	if was := holderOf(f.last); was != holder {
		f.terms++
		if out := runsOut(f.last); was != "" && holder != "" && now.Before(out) {
			f.wrong("%s got the Lease %s before that of %s has run out", holder, out.Sub(now), was)
		}
	}
	if holder != f.expected {
		f.outsider = holder
	}
	f.last = l
}

func holderOf(l *lease.Lease) string {
	if l == nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func runsOut(l *lease.Lease) time.Time {
	if l == nil || l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return time.Time{}
	}
	return l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
}

func (f *follower) takeCandidate(typ watch.EventType, c *candidate.LeaseCandidate) {
	f.mu.Lock()
	f.writes[c.Name]++
	f.mu.Unlock()
	f.of(c.Name, func(h *health, _ time.Time) {
		if h.take(c); typ == watch.Deleted {
			h.exists = false
		}
	})
}

// take takes in the state of a candidate.
func (h *health) take(c *candidate.LeaseCandidate) {
	h.exists = true
	h.owes = c.Spec.PingTime != nil && (c.Spec.RenewTime == nil || c.Spec.PingTime.After(c.Spec.RenewTime.Time))
}

// expect begins to count writes, while one holder is expected.
func (f *follower) expect(holder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expected, f.outsider, f.writes = holder, "", map[string]int{}
}

// counted returns the writes since expect, and who else held the Lease.
func (f *follower) counted() (writes map[string]int, outsider string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.writes = map[string]int{} }()
	return f.writes, f.outsider
}
