package candidate

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// namespacedName is the name of a Lease or of a LeaseCandidate.
type namespacedName struct{ namespace, name string }

func keyOf(it *registry.Item) namespacedName { return namespacedName{it.Namespace(), it.Name()} }

// elections is the state of a running Coordinator: one election for each Lease that has candidates
// or a preferredHolder. Only one goroutine uses it, except for wants.
type elections struct {
	*Coordinator
	ctx      context.Context // of run
	mu       sync.RWMutex    // held to change byLease, and by other goroutines to read it
	byLease  map[namespacedName]*election
	entrants map[namespacedName]*entrant // by the name of the candidate
	queue    *btree.BTreeG[*election]    // elections that are due at a time, in its order
	touched  []*election                 // elections that have changed
	listed   uint64                      // the version of the last list, which has all changes up to it
}

func newElections(c *Coordinator) *elections {
	return &elections{
		Coordinator: c, byLease: map[namespacedName]*election{}, entrants: map[namespacedName]*entrant{},
		queue: btree.NewG(16, func(a, b *election) bool {
			return cmp.Or(a.due.Compare(b.due), strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name)) < 0
		}),
	}
}

// run elects until the context ends, even if others do too: it takes the next step of each election that has changed
// or is due. It first applies all changes that are ready, so that an election with many changes takes one step.
func (s *elections) run(ctx context.Context) error {
	s.ctx = ctx
	due := make(chan struct{}, 1)
	timer := s.clock.AfterFunc(time.Hour, func() {
		select {
		case due <- struct{}{}:
		default: // the last one has not been received yet
		}
	})
	defer timer.Stop()
	feed := s.st.Feed(s.wants)
	defer feed.Close()
	for {
		if err := s.apply(feed.Poll()); err != nil {
			return err
		}
		s.settle()
		if next, ok := s.queue.Min(); ok {
			timer.Reset(next.due.Sub(s.clock.Now()))
		}
		select {
		case <-feed.WakeUp():
		case <-due: // perhaps by the time of an earlier election
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// wants reports whether a change concerns an election. Most renewals of Leases do not, and need not wake the Coordinator. Writers
// call it. A new election is in byLease before it reads its Lease, so it sees a write for which wants has not found it.
func (s *elections) wants(c registry.ObjectChange) bool {
	switch c.Kind() {
	case kinds.Of(Kind()):
		return true
	case kinds.Of(lease.Kind()):
		if preferredHolder(c.Newest().Stored().(*lease.Lease)) != "" {
			return true
		}
		s.mu.RLock()
		defer s.mu.RUnlock()
		return s.byLease[keyOf(c.Newest())] != nil
	}
	return false
}

func (s *elections) apply(changes []registry.ObjectChange, relist bool, err error) error {
	if relist && err == nil {
		err = s.relist()
	}
	for _, c := range changes {
		if c.Version > s.listed {
			s.change(c)
		}
	}
	return err
}

func (s *elections) change(c registry.ObjectChange) {
	kind, p := c.Kind(), keyOf(c.Newest())
	switch e := s.byLease[p]; {
	case kind == kinds.Of(Kind()) && c.New == nil:
		s.leave(p)
	case kind == kinds.Of(Kind()):
		s.applyCandidate(c.New.Wire().(*LeaseCandidate))
	case kind != kinds.Of(lease.Kind()): // a Poll also returns changes that nobody wants
	case c.New != nil:
		s.applyLease(c.New)
	case e != nil:
		e.applyLease(nil, c.Version)
	}
}

func (s *elections) relist() error {
	listed, version, err := s.list(kinds.Of(Kind()), func(it *registry.Item) { s.applyCandidate(it.Wire().(*LeaseCandidate)) })
	if err != nil {
		return err
	}
	for p := range s.entrants {
		if !listed[p] {
			s.leave(p)
		}
	}
	s.listed = version
	listed, _, err = s.list(kinds.Of(lease.Kind()), s.applyLease)
	for p, e := range s.byLease {
		if !listed[p] { // it was deleted
			e.lookUp()
		}
	}
	return err
}

// list calls apply with all objects of a kind, and returns their names and the version of the list.
func (s *elections) list(kind *kinds.Kind, apply func(*registry.Item)) (listed map[namespacedName]bool, version uint64, err error) {
	l, err := s.st.Resource(kind).List(s.ctx, registry.ListOptions{})
	if err != nil {
		return nil, 0, err
	}
	listed = make(map[namespacedName]bool, len(l.Items))
	for _, it := range l.Items {
		listed[keyOf(it)] = true
		apply(it)
	}
	return listed, l.ResourceVersion, nil
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
	case versionOf(c) > versionOf(t.c):
		t.election.update(t, c)
	}
}

func versionOf(o meta.Object) uint64 {
	version, _ := strconv.ParseUint(o.GetObjectMeta().ResourceVersion, 10, 64) // written by the store
	return version
}

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

func (s *elections) leave(p namespacedName) {
	if t := s.entrants[p]; t != nil {
		delete(s.entrants, p)
		e := t.election
		e.entrants = slices.DeleteFunc(e.entrants, func(other *entrant) bool { return other == t })
		e.offers++
		s.touch(e)
	}
}

func (s *elections) applyLease(it *registry.Item) {
	switch e := s.byLease[keyOf(it)]; {
	case e != nil:
		e.applyLease(it.Wire().(*lease.Lease), it.Version())
	case preferredHolder(it.Stored().(*lease.Lease)) != "":
		s.election(keyOf(it))
	}
}

// skew is the clock that the Coordinator waits by minus the clock of the times in objects.
func (s *elections) skew() time.Duration { return s.clock.Now().Sub(s.st.Now()) }
