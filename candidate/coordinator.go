package candidate

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// coordinator is the state of a running Elector. Only one goroutine uses it, except for
// wantsLease.
type coordinator struct {
	*Elector
	ctx       context.Context // of run
	mu        sync.RWMutex    // held to change contests; the goroutine reads them without it
	contests  map[namespacedName]*contest
	contestOf map[namespacedName]*contest // by the name of a candidate
	queue     queue                       // contests that are due at a time
	touched   []*contest                  // contests that have changed
}

func newCoordinator(e *Elector) *coordinator {
	return &coordinator{Elector: e, contests: map[namespacedName]*contest{}, contestOf: map[namespacedName]*contest{}}
}

// run handles contests that have changed or are due, until the context ends.
func (c *coordinator) run(ctx context.Context, in <-chan batch) error {
	c.ctx = ctx
	due := make(chan struct{}, 1)
	timer := c.clock.AfterFunc(time.Hour, func() {
		select {
		case due <- struct{}{}:
		default: // the last one has not been received yet
		}
	})
	defer timer.Stop()
	for {
		c.applyReady(in)
		now := c.clock.Now()
		for len(c.queue) > 0 && !now.Before(c.queue[0].due) {
			c.touch(heap.Pop(&c.queue).(*contest))
		}
		c.settle(ctx)
		if len(c.queue) > 0 {
			timer.Reset(c.queue[0].due.Sub(c.clock.Now()))
		}
		select {
		case n := <-in:
			c.apply(n)
		case <-due: // perhaps that of an earlier contest
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// applyReady applies all changes that are ready, so that a contest with many changes is
// decided once.
func (c *coordinator) applyReady(in <-chan batch) {
	for {
		select {
		case n := <-in:
			c.apply(n)
		default:
			return
		}
	}
}

// settle handles all contests that have changed.
func (c *coordinator) settle(ctx context.Context) {
	for len(c.touched) > 0 && ctx.Err() == nil {
		k := c.touched[0]
		c.touched[0] = nil
		c.touched = c.touched[1:]
		k.touched = false
		c.attend(k)
	}
}

func (c *coordinator) touch(k *contest) {
	if !k.touched {
		k.touched = true
		c.touched = append(c.touched, k)
	}
}

// attend decides about a contest, carries the decision out, and queues the contest for
// the time when it is due again.
func (c *coordinator) attend(k *contest) {
	now := c.clock.Now()
	c.carryOut(k, k.decide(now, &c.opts), now)
	switch {
	case k.index < 0 && !k.due.IsZero():
		heap.Push(&c.queue, k)
	case !k.due.IsZero():
		heap.Fix(&c.queue, k.index)
	case k.index >= 0:
		heap.Remove(&c.queue, k.index)
	}
	if k.index < 0 && !k.touched { // it has no candidates: each of them is due at some time
		c.mu.Lock()
		delete(c.contests, k.namespacedName)
		c.mu.Unlock()
	}
}

// apply applies changes of candidates or of Leases.
func (c *coordinator) apply(n batch) {
	if n.ofLeases {
		c.applyLeases(n)
		return
	}
	if n.Relisted {
		c.applyList(n.All)
	}
	for _, ev := range n.Events {
		switch ev.Type {
		case watch.Deleted:
			c.leave(keyOf(ev.Item))
		case watch.Added, watch.Modified:
			c.applyCandidate(ev.Item.Wire(0).(*LeaseCandidate))
		}
	}
}

func keyOf(it *registry.Item) namespacedName { return namespacedName{it.Namespace(), it.Name()} }

// applyList replaces all candidates by the items of a list.
func (c *coordinator) applyList(items []*registry.Item) {
	listed := make(map[namespacedName]bool, len(items))
	for _, it := range items {
		listed[keyOf(it)] = true
		c.applyCandidate(it.Wire(0).(*LeaseCandidate))
	}
	for p := range c.contestOf {
		if !listed[p] {
			c.leave(p)
		}
	}
}

// applyLeases applies changes of Leases that have candidates or a preferredHolder.
func (c *coordinator) applyLeases(n batch) {
	if n.Relisted {
		for _, k := range c.contests {
			c.lookUp(k)
		}
	}
	for _, it := range n.All {
		c.applyLeaseItem(it)
	}
	for _, ev := range n.Events {
		switch k := c.contests[keyOf(ev.Item)]; {
		case ev.Type == watch.Deleted && k != nil:
			c.applyLease(k, nil, ev.Item.ResourceVersion())
		case ev.Type == watch.Added || ev.Type == watch.Modified:
			c.applyLeaseItem(ev.Item)
		}
	}
}

// wantsLease reports whether the state of a Lease concerns the coordinator. Without it, each
// renewal of each Lease would wake the coordinator. Writers of Leases call it.
//
// A new contest is added before its Lease is read. So if wantsLease does not find it, the
// write comes before the read, which then finds the state.
func (c *coordinator) wantsLease(it *registry.Item) bool {
	if preferredHolder(it.Stored().(*lease.Lease)) != "" {
		return true
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.contests[keyOf(it)] != nil
}

func (c *coordinator) applyLeaseItem(it *registry.Item) {
	switch k := c.contests[keyOf(it)]; {
	case k != nil:
		l := it.Wire(0).(*lease.Lease)
		c.applyLease(k, l, l.ResourceVersion)
	case preferredHolder(it.Stored().(*lease.Lease)) != "":
		c.contest(keyOf(it))
	}
}

// lookUp reads the Lease of a contest.
func (c *coordinator) lookUp(k *contest) {
	version := strconv.FormatUint(c.st.ResourceVersion(), 10)
	l, err := c.leases.Get(c.ctx, k.namespace, k.name)
	if err == nil {
		c.applyLease(k, l, l.ResourceVersion)
		return
	}
	if !errors.Is(err, store.ErrNotFound) {
		return // the next write will tell
	}
	// There is no Lease, at that version or a later one.
	k.leaseVersion = version
	k.setLease(nil, c.clock.Now())
	c.touch(k)
}

// applyLease applies a state of the Lease, nil if deleted, unless it is older than
// the last known state.
func (c *coordinator) applyLease(k *contest, l *lease.Lease, resourceVersion string) {
	if !isNewer(resourceVersion, k.leaseVersion) {
		return
	}
	at := c.clock.Now()
	if k.leaseVersion == "" {
		at = c.seenAt(resourceVersion, at)
	}
	k.leaseVersion = resourceVersion
	k.setLease(l, at)
	c.touch(k)
}

// seenAt returns when the store saw a version, if its history tells, or else now. renewTime does
// not tell, because the clock of the holder may differ.
func (c *coordinator) seenAt(resourceVersion string, now time.Time) time.Time {
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	if at := c.st.SeenAt(version); err == nil && !at.IsZero() {
		return earlier(at.Add(c.skew()), now)
	}
	return now
}

// skew is the difference between two clocks: the one that the coordinator waits by, and
// the one of the times in objects.
func (c *coordinator) skew() time.Duration { return c.clock.Now().Sub(c.st.Now()) }

// applyCandidate applies a state of a candidate, unless it is older than the last known
// state.
func (c *coordinator) applyCandidate(lc *LeaseCandidate) {
	p := namespacedName{lc.Namespace, lc.Name}
	k := c.contestOf[p]
	if k != nil && k.name != lc.Spec.LeaseName || lc.DeletionTimestamp != nil {
		c.leave(p) // created again for another Lease, or being deleted
		k = nil
	}
	if lc.DeletionTimestamp != nil {
		return
	}
	if k == nil {
		k = c.contest(namespacedName{lc.Namespace, lc.Spec.LeaseName})
		c.contestOf[p] = k
	}
	now := c.clock.Now()
	t := k.entrant(lc.Name)
	switch {
	case t == nil || t.c.UID != lc.UID:
		k.enter(newEntrant(lc, now, c.skew()), now)
	case !isNewer(lc.ResourceVersion, t.c.ResourceVersion):
		return
	default:
		asked := t.pings > 0
		if t.update(lc, now, c.st.Now(), &c.opts) {
			k.offers++
		}
		if asked && t.pings == 0 {
			c.log(k, Answered, lc.Name, nil)
		}
	}
	c.touch(k)
}

// isNewer reports whether version a is later than b. Versions are decimal numbers
// without leading zeros; "" is the oldest.
func isNewer(a, b string) bool {
	return len(a) > len(b) || len(a) == len(b) && a > b
}

// contest returns the contest for a Lease. It makes one if there is none.
func (c *coordinator) contest(p namespacedName) *contest {
	k := c.contests[p]
	if k == nil {
		k = &contest{namespacedName: p, index: -1}
		c.mu.Lock()
		c.contests[p] = k
		c.mu.Unlock()
		c.lookUp(k)
	}
	return k
}

// leave removes a candidate from its contest.
func (c *coordinator) leave(p namespacedName) {
	if k := c.contestOf[p]; k != nil {
		delete(c.contestOf, p)
		k.leave(p.name)
		c.touch(k)
	}
}

func (c *coordinator) log(k *contest, typ ElectionEventType, candidate string, err error) {
	c.opts.Log(ElectionEvent{Time: c.st.Now(), Type: typ, Namespace: k.namespace, Lease: k.name, Candidate: candidate, Err: err})
}

// queue is a heap of contests, ordered by due.
type queue []*contest

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *queue) Push(x any) {
	k := x.(*contest)
	k.index = len(*q)
	*q = append(*q, k)
}
func (q *queue) Pop() any {
	k := (*q)[len(*q)-1]
	(*q)[len(*q)-1] = nil
	*q = (*q)[:len(*q)-1]
	k.index = -1
	return k
}

// batch has changes of the objects of a resource, or a list of all of them.
type batch struct {
	registry.Update
	ofLeases bool // not of candidates
}

// follow passes on the changes of a resource until the context ends or the store is
// closed. wants is as in registry.WatchOptions, and is nil for candidates.
func follow(ctx context.Context, r *registry.Resource, wants func(*registry.Item) bool, out chan<- batch) error {
	for n, err := range r.Follow(ctx, wants) {
		if err != nil {
			return err
		}
		n.Events = slices.Clone(n.Events) // Follow reuses the slice
		select {
		case out <- batch{n, wants != nil}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	panic("unreachable: the last element is an error")
}
