package candidate

import (
	"container/heap"
	"context"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// coordinator is an Elector at work. All of it belongs to one goroutine.
type coordinator struct {
	*Elector
	contests map[namespacedName]*contest
	homes    map[namespacedName]*contest // by namespace and name of a candidate
	queue    queue                       // contests that have to be looked at without news
	touched  []*contest                  // those of which there is news
	leaseOf  *store.Resource
	taken    []func() // what to call once the news taken have been dealt with
}

func newCoordinator(e *Elector) *coordinator {
	return &coordinator{
		Elector: e, contests: map[namespacedName]*contest{}, homes: map[namespacedName]*contest{},
		leaseOf: e.st.Resource(lease.Kind()),
	}
}

// run works through news, and through what falls due, until the context ends.
func (c *coordinator) run(ctx context.Context, in <-chan news) error {
	worker := atwork.New(c.clock)
	worker.Work()
	defer worker.Away()
	timer := worker.NewTimer(c.clock, time.Hour)
	defer timer.Stop()
	defer c.release()
	for {
		seen := worker.Wakes()
		c.takeMore(in)
		now := c.clock.Now()
		for len(c.queue) > 0 && !now.Before(c.queue[0].due) {
			c.touch(heap.Pop(&c.queue).(*contest))
		}
		c.settle(ctx)
		if len(c.queue) > 0 {
			timer.Reset(c.queue[0].due.Sub(c.clock.Now()))
		}
		c.release()
		if !worker.Rest(seen) {
			continue
		}
		select {
		case n := <-in:
			c.take(n)
		case <-timer.C():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// release lets go of the clock for the news that have been dealt with.
func (c *coordinator) release() {
	for _, release := range c.taken {
		release()
	}
	c.taken = c.taken[:0]
}

// takeMore takes what news there is by now, so that a contest about which there
// is much is decided once.
func (c *coordinator) takeMore(in <-chan news) {
	for {
		select {
		case n := <-in:
			c.take(n)
		default:
			return
		}
	}
}

// settle decides all contests of which there is news.
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

// attend does what there is to do about a contest, and queues it for later.
func (c *coordinator) attend(k *contest) {
	now := c.clock.Now()
	v := k.decide(now, &c.opts)
	if c.carryOut(k, v, now) {
		c.touch(k) // it is not the same any more
	}
	switch {
	case k.index < 0 && !k.due.IsZero():
		heap.Push(&c.queue, k)
	case k.index >= 0 && !k.due.IsZero():
		heap.Fix(&c.queue, k.index)
	case k.index >= 0:
		heap.Remove(&c.queue, k.index)
	}
	if len(k.entrants) == 0 && !k.touched && k.index < 0 {
		delete(c.contests, k.namespacedName)
	}
}

// take takes in what a watch tells.
func (c *coordinator) take(n news) {
	c.taken = append(c.taken, n.release)
	if n.of == c.leaseOf {
		c.takeLeases(n)
		return
	}
	if n.Afresh {
		c.takeAll(n.All)
	}
	for _, ev := range n.Events {
		switch ev.Type {
		case watch.Deleted:
			c.leave(keyOf(ev.Item))
		case watch.Added, watch.Modified:
			c.see(ev.Item.Wire(0).(*LeaseCandidate))
		}
	}
}

func keyOf(it *store.Item) namespacedName { return namespacedName{it.Namespace(), it.Name()} }

// takeAll makes the candidates those of a list.
func (c *coordinator) takeAll(items []*store.Item) {
	there := make(map[namespacedName]bool, len(items))
	for _, it := range items {
		there[keyOf(it)] = true
		c.see(it.Wire(0).(*LeaseCandidate))
	}
	for p := range c.homes {
		if !there[p] {
			c.leave(p)
		}
	}
}

// takeLeases takes in changes of leases that have candidates, or whose holder
// waits for one that it should make way for.
func (c *coordinator) takeLeases(n news) {
	if n.Afresh {
		for _, k := range c.contests {
			c.lookUp(k)
		}
	}
	for _, it := range n.All {
		c.seeLeaseItem(it)
	}
	for _, ev := range n.Events {
		switch k := c.contests[keyOf(ev.Item)]; {
		case ev.Type == watch.Deleted && k != nil:
			c.seeLease(k, nil, ev.Item.ResourceVersion())
		case ev.Type == watch.Added || ev.Type == watch.Modified:
			c.seeLeaseItem(ev.Item)
		}
	}
}

func (c *coordinator) seeLeaseItem(it *store.Item) {
	k, l := c.contests[keyOf(it)], it.Wire(0).(*lease.Lease)
	switch {
	case k != nil:
		c.seeLease(k, l, l.ResourceVersion)
	case preferredHolder(l) != "":
		c.contest(keyOf(it))
	}
}

// lookUp reads the state of a contest's lease.
func (c *coordinator) lookUp(k *contest) {
	version := strconv.FormatUint(c.st.ResourceVersion(), 10)
	l, err := c.leases.Get(k.namespace, k.name)
	if err == nil {
		c.seeLease(k, l, l.ResourceVersion)
		return
	}
	// There is none, at that version or a later one.
	if isNewer(version, k.leaseVersion) {
		k.leaseVersion = version
	}
	k.takeLease(nil, c.clock.Now(), 0)
	c.touch(k)
}

// seeLease takes in a state of the lease, or its absence, unless it is older
// than what is known.
func (c *coordinator) seeLease(k *contest, l *lease.Lease, resourceVersion string) {
	if !isNewer(resourceVersion, k.leaseVersion) {
		return
	}
	k.leaseVersion = resourceVersion
	k.takeLease(l, c.clock.Now(), c.skew())
	c.touch(k)
}

// skew is what turns the times in objects into those that waiting goes by.
func (c *coordinator) skew() time.Duration { return c.clock.Now().Sub(c.st.Now()) }

// see takes in a state of a candidate, unless it is older than what is known.
func (c *coordinator) see(lc *LeaseCandidate) {
	p := namespacedName{lc.Namespace, lc.Name}
	k := c.homes[p]
	if k != nil && k.name != lc.Spec.LeaseName || lc.DeletionTimestamp != nil {
		c.leave(p) // it was made anew, for another lease, or is on its way out
		k = nil
	}
	if lc.DeletionTimestamp != nil {
		return
	}
	if k == nil {
		k = c.contest(namespacedName{lc.Namespace, lc.Spec.LeaseName})
		c.homes[p] = k
	}
	now := c.clock.Now()
	t := k.entrant(lc.Name)
	switch {
	case t == nil || t.c.UID != lc.UID:
		k.enter(firstSight(lc, now, c.skew()), now)
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

// isNewer compares the versions of two states of one object; "" is older than
// any. They are decimal, without zeros in front.
func isNewer(a, b string) bool {
	return len(a) > len(b) || len(a) == len(b) && a > b
}

// contest returns the contest for a lease, a new one if need be.
func (c *coordinator) contest(p namespacedName) *contest {
	k := c.contests[p]
	if k == nil {
		k = &contest{namespacedName: p, index: -1}
		c.contests[p] = k
		c.lookUp(k)
	}
	return k
}

// leave takes a candidate that is gone out of its contest.
func (c *coordinator) leave(p namespacedName) {
	if k := c.homes[p]; k != nil {
		delete(c.homes, p)
		k.leave(p.name)
		c.touch(k)
	}
}

func (c *coordinator) log(k *contest, typ ElectionEventType, candidate string, err error) {
	c.opts.Log(ElectionEvent{Time: c.st.Now(), Type: typ, Namespace: k.namespace, Lease: k.name, Candidate: candidate, Err: err})
}

// queue is a heap of contests by when they are due.
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
