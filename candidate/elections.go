package candidate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/btree"
	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/watch"
)

// namespacedName is the name of a Lease or of a LeaseCandidate.
type namespacedName struct{ namespace, name string }

func keyOf(it *registry.Item) namespacedName { return namespacedName{it.Namespace(), it.Name()} }

// elections is the state of a running Coordinator: one election for each Lease that has candidates
// or a preferredHolder. Only one goroutine uses it, except for wantsLease.
type elections struct {
	*Coordinator
	ctx      context.Context // of run
	mu       sync.RWMutex    // held to change byLease; the goroutine reads it without
	byLease  map[namespacedName]*election
	entrants map[namespacedName]*entrant // by the name of the candidate
	queue    *btree.BTreeG[*election]    // elections that are due at a time, in its order
	touched  []*election                 // elections that have changed
}

func newElections(c *Coordinator) *elections {
	return &elections{
		Coordinator: c, byLease: map[namespacedName]*election{}, entrants: map[namespacedName]*entrant{},
		queue: btree.NewG(16, func(a, b *election) bool {
			return cmp.Or(a.due.Compare(b.due), strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name)) < 0
		}),
	}
}

// run elects until the context ends, even if others do too.
func (s *elections) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	s.ctx = ctx
	changes := make(chan func())
	g.Go(func() error { return s.watch(Kind().Registered(), nil, s.applyCandidates, changes) })
	g.Go(func() error { return s.watch(lease.Kind().Registered(), s.wantsLease, s.applyLeases, changes) })
	g.Go(func() error { return s.elect(changes) })
	return g.Wait()
}

// watch sends the changes of all objects of a kind to the goroutine of elect. wants is as in
// registry.WatchOptions.
func (s *elections) watch(kind *kinds.Kind, wants func(*registry.Item) bool, apply func(registry.Update), changes chan<- func()) error {
	for n, err := range s.st.Resource(kind).Follow(s.ctx, wants) {
		if err != nil {
			return err
		}
		n.Events = slices.Clone(n.Events) // Follow reuses the slice
		select {
		case changes <- func() { apply(n) }:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	panic("unreachable: the last element is an error")
}

// elect takes the next step of each election that has changed or is due. It first applies all
// changes that are ready, so that an election with many changes takes one step.
func (s *elections) elect(changes <-chan func()) error {
	due := make(chan struct{}, 1)
	timer := s.clock.AfterFunc(time.Hour, func() {
		select {
		case due <- struct{}{}:
		default: // the last one has not been received yet
		}
	})
	defer timer.Stop()
	for {
		select {
		case apply := <-changes:
			apply()
			continue
		default:
		}
		s.settle()
		if next, ok := s.queue.Min(); ok {
			timer.Reset(next.due.Sub(s.clock.Now()))
		}
		select {
		case apply := <-changes:
			apply()
		case <-due: // perhaps by the time of an earlier election
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
}

// settle takes a step of each election that is due or has changed, until nothing changes.
func (s *elections) settle() {
	now := s.clock.Now()
	for e, ok := s.queue.Min(); ok && !now.Before(e.due); e, ok = s.queue.Min() {
		s.queue.DeleteMin()
		s.touch(e)
	}
	for len(s.touched) > 0 && s.ctx.Err() == nil {
		e := s.touched[0]
		s.touched[0] = nil
		s.touched = s.touched[1:]
		e.touched = false
		s.queue.Delete(e)
		e.step()
		switch {
		case !e.due.IsZero():
			s.queue.ReplaceOrInsert(e)
		case !e.touched: // it has no candidates: each of them is due at some time
			s.mu.Lock()
			delete(s.byLease, e.namespacedName)
			s.mu.Unlock()
		}
	}
}

func (s *elections) touch(e *election) {
	if !e.touched {
		e.touched = true
		s.touched = append(s.touched, e)
	}
}

// election returns the election for a Lease. It makes one if there is none.
func (s *elections) election(p namespacedName) *election {
	e := s.byLease[p]
	if e == nil {
		e = &election{elections: s, namespacedName: p}
		s.mu.Lock()
		s.byLease[p] = e
		s.mu.Unlock()
		e.lookUp()
	}
	return e
}

// applyCandidates applies changes of candidates.
func (s *elections) applyCandidates(n registry.Update) {
	if n.Relisted {
		listed := make(map[namespacedName]bool, len(n.All))
		for _, it := range n.All {
			listed[keyOf(it)] = true
			s.applyCandidate(it.Wire(0).(*LeaseCandidate))
		}
		for p := range s.entrants {
			if !listed[p] {
				s.leave(p)
			}
		}
	}
	for _, ev := range n.Events {
		switch ev.Type {
		case watch.Deleted:
			s.leave(keyOf(ev.Item))
		case watch.Added, watch.Modified:
			s.applyCandidate(ev.Item.Wire(0).(*LeaseCandidate))
		}
	}
}

// applyCandidate applies a state of a candidate, unless it is older than the last known one. A
// candidate that is being deleted does not count.
func (s *elections) applyCandidate(c *LeaseCandidate) {
	p := namespacedName{c.Namespace, c.Name}
	switch t := s.entrants[p]; {
	case c.DeletionTimestamp != nil:
		s.leave(p)
	case t == nil || t.c.UID != c.UID:
		s.leave(p) // created again, perhaps for another Lease
		s.enter(p, c)
	case isNewer(c.ResourceVersion, t.c.ResourceVersion):
		t.election.update(t, c)
	}
}

// isNewer reports whether version a is later than b: decimal numbers without leading zeros, or "".
func isNewer(a, b string) bool {
	return len(a) > len(b) || len(a) == len(b) && a > b
}

// enter adds a candidate to the election for its Lease.
func (s *elections) enter(p namespacedName, c *LeaseCandidate) {
	now := s.clock.Now()
	e := s.election(namespacedName{c.Namespace, c.Spec.LeaseName})
	t := newEntrant(c, now, s.skew())
	t.election = e
	s.entrants[p] = t
	i, _ := slices.BinarySearchFunc(e.entrants, c.Name, func(t *entrant, name string) int { return strings.Compare(t.c.Name, name) })
	e.entrants = slices.Insert(e.entrants, i, t)
	e.offers++
	e.lastArrival = now
	if e.firstArrival.IsZero() {
		e.firstArrival = now
	}
	s.touch(e)
}

// leave removes a candidate from its election.
func (s *elections) leave(p namespacedName) {
	if t := s.entrants[p]; t != nil {
		delete(s.entrants, p)
		e := t.election
		e.entrants = slices.DeleteFunc(e.entrants, func(other *entrant) bool { return other == t })
		e.offers++
		s.touch(e)
	}
}

// applyLeases applies changes of Leases. A list may lack Leases that were deleted.
func (s *elections) applyLeases(n registry.Update) {
	if n.Relisted {
		for _, e := range s.byLease {
			e.lookUp()
		}
	}
	for _, it := range n.All {
		s.applyLease(it)
	}
	for _, ev := range n.Events {
		switch e := s.byLease[keyOf(ev.Item)]; {
		case ev.Type == watch.Deleted && e != nil:
			e.applyLease(nil, ev.Item.ResourceVersion())
		case ev.Type == watch.Added || ev.Type == watch.Modified:
			s.applyLease(ev.Item)
		}
	}
}

func (s *elections) applyLease(it *registry.Item) {
	switch e := s.byLease[keyOf(it)]; {
	case e != nil:
		l := it.Wire(0).(*lease.Lease)
		e.applyLease(l, l.ResourceVersion)
	case preferredHolder(it.Stored().(*lease.Lease)) != "":
		s.election(keyOf(it))
	}
}

// wantsLease reports whether the state of a Lease concerns an election. Writers of Leases call it, so
// that not each renewal wakes the Coordinator. A new election is added before its Lease is read: if
// wantsLease does not find it, the read comes after the write.
func (s *elections) wantsLease(it *registry.Item) bool {
	if preferredHolder(it.Stored().(*lease.Lease)) != "" {
		return true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byLease[keyOf(it)] != nil
}

// skew is the clock that the Coordinator waits by minus the clock of the times in objects.
func (s *elections) skew() time.Duration { return s.clock.Now().Sub(s.st.Now()) }
