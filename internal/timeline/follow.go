package timeline

import (
	"context"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// Run follows the store until the context ends and returns its error, or
// store.ErrClosed if the store is closed before. It must be called once.
func (r *Recorder) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return follow(ctx, r.leases, r.takeLease) })
	g.Go(func() error { return follow(ctx, r.candidates, r.takeCandidate) })
	return g.Wait()
}

// latest returns the version of the object of a collection that was written last, or 0. It is 0 also in a store that is closed, whose
// error Run returns.
func latest[T any](c *store.Collection[T], versionOf func(*T) string) (version uint64) {
	for object, err := range c.All(context.Background(), "") {
		if err != nil {
			return 0
		}
		version = max(version, number(versionOf(object)))
	}
	return version
}

// follow calls each for the objects of a collection and for each change of them.
func follow[T any](ctx context.Context, c *store.Collection[T], each func(watch.EventType, *T)) error {
	for ev, err := range c.Follow(ctx, store.WatchOptions{}) {
		if err != nil {
			return err
		}
		each(ev.Type, ev.Object)
	}
	return nil // unreachable: the last element is an error
}

// skew is the difference between the Recorder's time and the store's clock.
func (r *Recorder) skew() time.Duration { return r.now().Sub(r.stamp()) }

func (r *Recorder) takeLease(t watch.EventType, l *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.gotLocked(0, l.ResourceVersion)
	if t == watch.Deleted {
		e := r.entries[namespacedName{l.Namespace, l.Name}]
		if e == nil || e.known && number(l.ResourceVersion) < e.version {
			return // there is a newer Lease of this name
		}
		e.version = number(l.ResourceVersion)
		r.see(e, nil, 0)
		r.drop(e)
	} else if !r.seeLease(l) {
		return
	}
	r.notifyLocked()
}

// isElection reports whether a Lease has to do with an election. The others have never had a holder, or are the heartbeats of nodes
// and API servers (upstream: component-helpers, apimachinery/lease; controlplane, IdentityLeaseComponentLabelKey).
func isElection(l *lease.Lease) bool {
	if l.Spec.Strategy != nil {
		return true
	}
	_, ofServer := l.Labels["apiserver.kubernetes.io/identity"]
	return l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != "" && l.Namespace != "kube-node-lease" && !ofServer
}

// seeLease adds a state of a Lease, and reports whether the Lease has to do with
// elections.
func (r *Recorder) seeLease(l *lease.Lease) bool {
	p := namespacedName{l.Namespace, l.Name}
	e := r.entries[p]
	if e == nil {
		if !isElection(l) {
			return false
		}
		e = &entry{namespacedName: p, offers: map[string]*Offer{}}
		r.entries[p] = e
	}
	if e.advance(l.ResourceVersion) {
		r.see(e, l, r.skew())
	}
	return true
}

// advance sets the version of the Lease, and reports whether it is later than the last
// one.
func (e *entry) advance(resourceVersion string) bool {
	v := number(resourceVersion)
	if e.known && v <= e.version {
		return false
	}
	e.version = v
	return true
}

// number returns the number of a resourceVersion of this module's store.
func number(resourceVersion string) uint64 {
	v, _ := strconv.ParseUint(resourceVersion, 10, 64)
	return v
}

// lookUp reads the Lease.
func (r *Recorder) lookUp(e *entry) {
	version := number(r.st.ResourceVersion())
	l, err := r.leases.Get(context.Background(), e.namespace, e.name)
	if err == nil {
		if e.advance(l.ResourceVersion) {
			r.see(e, l, r.skew())
		}
		return
	}
	e.version = max(e.version, version) // there is no Lease at that version or later
	r.see(e, nil, 0)
}

func (r *Recorder) takeCandidate(t watch.EventType, c *candidate.LeaseCandidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.gotLocked(1, c.ResourceVersion)
	if t == watch.Deleted {
		p := namespacedName{c.Namespace, c.Name}
		if number(c.ResourceVersion) < r.homes[p].version {
			return // there is a newer candidate of this name
		}
		r.leave(p)
	} else if !r.seeCandidate(c) {
		return
	}
	r.notifyLocked()
}

// seeCandidate adds a state of a candidate, and reports whether its offer has changed.
func (r *Recorder) seeCandidate(c *candidate.LeaseCandidate) bool {
	p, version := namespacedName{c.Namespace, c.Name}, number(c.ResourceVersion)
	e := r.homes[p].entry
	if e != nil && version <= r.homes[p].version {
		return false
	}
	if e != nil && e.name != c.Spec.LeaseName || c.DeletionTimestamp != nil {
		r.leave(p) // created again for another Lease, or being deleted
		e = nil
	}
	if c.DeletionTimestamp != nil {
		return true
	}
	if e == nil {
		e = r.entry(namespacedName{c.Namespace, c.Spec.LeaseName})
	}
	r.homes[p] = home{e, version}
	now := r.now()
	o := Offer{
		From: now, BinaryVersion: bounded(c.Spec.BinaryVersion), EmulationVersion: bounded(c.Spec.EmulationVersion),
		Strategy: string(c.Spec.Strategy),
	}
	if last := e.offers[c.Name]; last != nil {
		if same := *last; same.BinaryVersion == o.BinaryVersion && same.EmulationVersion == o.EmulationVersion && same.Strategy == o.Strategy {
			return false
		}
		r.withdraw(e, c.Name, now)
	}
	e.offers[c.Name] = &o
	r.lapse(e, now)
	r.leaderless(e, now)
	return true
}

// leave removes a candidate.
func (r *Recorder) leave(p namespacedName) {
	e := r.homes[p].entry
	if e == nil {
		return
	}
	delete(r.homes, p)
	now := r.now()
	r.lapse(e, now)
	r.withdraw(e, p.name, now)
	r.leaderless(e, now)
	r.drop(e)
}

func (r *Recorder) withdraw(e *entry, name string, now time.Time) {
	o := *e.offers[name]
	delete(e.offers, name)
	o.Until = now
	r.keep(e, pastOffer{name, o})
}
