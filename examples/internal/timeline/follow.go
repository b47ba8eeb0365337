package timeline

import (
	"context"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/watch"
)

// Run follows the store until the context ends, and returns its error, or
// store.ErrClosed when the store was closed before. It is to be called once.
func (r *Recorder) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return follow(ctx, atwork.New(r.st.Clock()), r.st.Resource(lease.Kind().Registered()), r.takeLeases, r.takeLease)
	})
	g.Go(func() error {
		return follow(ctx, atwork.New(r.st.Clock()), r.st.Resource(candidate.Kind().Registered()), r.takeCandidates, r.takeCandidate)
	})
	return g.Wait()
}

// follow passes on all objects there are, and then each change of them, with the
// worker of its own at work. It begins again when it lost the thread.
func follow[T any](ctx context.Context, w *atwork.Worker, r *registry.Resource, all func([]*T), each func(watch.EventType, *T)) error {
	object := func(it *registry.Item) *T { return any(it.Wire(0)).(*T) }
	w.Work()
	defer w.Away()
	for news, err := range r.Follow(atwork.With(ctx, w)) {
		if err != nil {
			return err
		}
		if news.Relisted {
			objects := make([]*T, len(news.All))
			for i, it := range news.All {
				objects[i] = object(it)
			}
			all(objects)
		}
		for _, ev := range news.Events {
			if ev.Type != watch.Bookmark {
				each(ev.Type, object(ev.Item))
			}
		}
	}
	return nil // never: the last element is an error
}

// skew is what turns times of the store's clock into those of the Recorder.
func (r *Recorder) skew() time.Duration { return r.now().Sub(r.st.Now()) }

func (r *Recorder) takeLeases(all []*lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finding = true
	there := make(map[place]bool, len(all))
	for _, l := range all {
		there[place{l.Namespace, l.Name}] = true
		r.seeLease(l)
	}
	for p, e := range r.entries {
		if !there[p] {
			r.lookUp(e)
		}
	}
	r.finding = false
	r.notifyLocked()
}

func (r *Recorder) takeLease(t watch.EventType, l *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t == watch.Deleted {
		e := r.entries[place{l.Namespace, l.Name}]
		if e == nil || !e.isNews(l.ResourceVersion) {
			return
		}
		r.see(e, nil, 0)
		r.drop(e)
	} else if !r.seeLease(l) {
		return
	}
	r.notifyLocked()
}

// seeLease takes in a state of a lease, and reports whether it has to do with
// elections.
func (r *Recorder) seeLease(l *lease.Lease) bool {
	p := place{l.Namespace, l.Name}
	e := r.entries[p]
	if e == nil {
		if l.Spec.Strategy == nil {
			return false
		}
		e = &entry{place: p, offers: map[string]*Offer{}}
		r.entries[p] = e
	}
	if e.isNews(l.ResourceVersion) {
		r.see(e, l, r.skew())
	}
	return true
}

// isNews tells whether a version is later than what was seen, and notes it.
func (e *entry) isNews(resourceVersion string) bool {
	v := number(resourceVersion)
	if e.known && v <= e.version {
		return false
	}
	e.version = v
	return true
}

// number returns a resourceVersion, which in this module's store is decimal.
func number(resourceVersion string) uint64 {
	v, _ := strconv.ParseUint(resourceVersion, 10, 64)
	return v
}

// lookUp reads the state of a lease.
func (r *Recorder) lookUp(e *entry) {
	version := r.st.ResourceVersion()
	l, err := r.leases.Get(context.Background(), e.namespace, e.name)
	if err == nil {
		if e.isNews(l.ResourceVersion) {
			r.see(e, l, r.skew())
		}
		return
	}
	e.version = max(e.version, version) // there is none, at that version or a later one
	r.see(e, nil, 0)
}

func (r *Recorder) takeCandidates(all []*candidate.LeaseCandidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	there := make(map[place]bool, len(all))
	r.finding = true
	for _, c := range all {
		there[place{c.Namespace, c.Name}] = true
		r.seeCandidate(c)
	}
	r.finding = false
	for p := range r.homes {
		if !there[p] {
			r.leave(p)
		}
	}
	r.notifyLocked()
}

func (r *Recorder) takeCandidate(t watch.EventType, c *candidate.LeaseCandidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t == watch.Deleted {
		p := place{c.Namespace, c.Name}
		if number(c.ResourceVersion) <= r.homes[p].version {
			return // an earlier one of the same name
		}
		r.leave(p)
	} else if !r.seeCandidate(c) {
		return
	}
	r.notifyLocked()
}

// seeCandidate takes in a state of a candidate, and reports whether it is
// another offer than before.
func (r *Recorder) seeCandidate(c *candidate.LeaseCandidate) bool {
	p, version := place{c.Namespace, c.Name}, number(c.ResourceVersion)
	e := r.homes[p].entry
	if e != nil && version <= r.homes[p].version {
		return false
	}
	if e != nil && e.name != c.Spec.LeaseName || c.DeletionTimestamp != nil {
		r.leave(p) // it was made anew, for another lease, or is on its way out
		e = nil
	}
	if c.DeletionTimestamp != nil {
		return true
	}
	if e == nil {
		e = r.entry(place{c.Namespace, c.Spec.LeaseName})
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

// leave takes out a candidate that is gone.
func (r *Recorder) leave(p place) {
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
