package registry

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Veil hides the changes of some objects from watches, until Lift. Then a watch gets one event for each object that has another state than
// before: ADDED, MODIFIED or DELETED, as it must be for a client that saw none of the states between. An object that was deleted and
// created again is MODIFIED with another uid: informers report that too when they list after a missed deletion. A Veil has the state of the
// store at the version of its Replica. Its methods may be called from any goroutine.
type Veil struct {
	hides  func(namespace, name string) bool
	base   map[meta.GroupResource]snapshot
	lifted atomic.Bool
}

// Veil returns a Veil over the objects of ReplicaOptions.Only, which must be set.
func (p *Replica) Veil() *Veil {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &Veil{hides: p.opts.Only, base: maps.Clone(p.kept)}
}

// Lift ends the Veil. Veils.Wake must be called for the watches that it is on.
func (v *Veil) Lift() { v.lifted.Store(true) }

// Veils are the Veils on one watch. The zero value has none.
type Veils struct {
	mu   sync.Mutex // guards all below
	on   []*veiled
	wake func() // wakes the watch; nil until it is open
}

// veiled is a Veil on a watch.
type veiled struct {
	*Veil
	known map[key]*Item      // what the client knows instead of the base: nil for no object
	gone  map[key]*ItemEvent // the last events of objects whose deletion was hidden
	until uint64             // the version up to which all changes are hidden or sent, once it is lifted; else 0
}

type veilsKey struct{}

// Context returns a context for the watch. It must not be used for another one.
func (vs *Veils) Context(parent context.Context) context.Context {
	return context.WithValue(parent, veilsKey{}, vs)
}

// Add puts a Veil on the watch. It hides changes after the base of the Veil, or after the state that the watch started with if that
// is later.
func (vs *Veils) Add(v *Veil) {
	vs.mu.Lock()
	vs.on = append(vs.on, &veiled{Veil: v, known: map[key]*Item{}, gone: map[key]*ItemEvent{}})
	vs.mu.Unlock()
	vs.Wake()
}

// Wake makes the watch send the events of Veils that were lifted.
func (vs *Veils) Wake() {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.wake != nil {
		vs.wake()
	}
}

// over returns the events of a watch that the Veils are on.
func (vs *Veils) over(all events, w *Watcher, from reader) events {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.wake = all.Signal
	return &behindVeils{all, vs, w.r, &w.sel, from, w.initial}
}

// behindVeils are the events of a watch that Veils do not hide.
type behindVeils struct {
	events
	veils   *Veils
	r       *Resource
	sel     *selection
	from    reader
	started snapshot // the state that the watch started with; without a tree if it started with none
}

func (b *behindVeils) poll(room []ItemEvent) ([]ItemEvent, error) {
	for {
		all, err := b.events.poll(room[:0])
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return b.veils.lift(b)
		}
		if room = slices.DeleteFunc(all, func(ev ItemEvent) bool { return b.veils.hide(b, ev) }); len(room) > 0 {
			return room, nil
		}
	}
}

// settled lets bookmarks wait, since they could claim a hidden change.
func (b *behindVeils) settled(at uint64) (uint64, canBookmark) {
	if b.veils.hideAny() {
		return 0, notNow
	}
	return b.events.settled(at)
}

// baseOf returns the state that the client of a watch had when the Veil began to hide changes from it.
func (v *veiled) baseOf(b *behindVeils) snapshot {
	base := v.base[b.r.GroupResource()]
	if base.tree == nil || b.started.version > base.version {
		return b.started
	}
	return base
}

// hide reports whether an event must not be sent to a watch.
func (vs *Veils) hide(b *behindVeils, ev ItemEvent) bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	k, version, hidden := ev.Item.key(), ev.Item.Version(), false
	for _, v := range vs.on {
		if !v.hides(k.namespace, k.name) || version <= v.baseOf(b).version || v.until > 0 && version > v.until {
			continue
		}
		hidden = true
		delete(v.gone, k)
		if ev.Type == watch.Deleted {
			v.gone[k] = &ev
		}
	}
	return hidden
}

// hideAny reports whether a Veil was not lifted.
func (vs *Veils) hideAny() bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return slices.ContainsFunc(vs.on, func(v *veiled) bool { return v.until == 0 })
}

// lift returns the events of the Veils that were lifted. The watch must have sent all before: changes before the Veil come first.
func (vs *Veils) lift(b *behindVeils) (events []ItemEvent, err error) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for i, v := range vs.on {
		if v.until > 0 || !v.lifted.Load() {
			continue
		}
		now, err := b.from.state(b.r)
		if err != nil {
			return nil, expiredList()
		}
		v.until = now.version
		events = append(events, v.missed(b, now, vs.on[:i], vs.on[i+1:])...)
	}
	return events, nil
}

// missed returns the events that lead from the state that the client knows to the state now. Objects that another Veil hides
// are left to it: a later one gets to know what the client knows.
func (v *veiled) missed(b *behindVeils, now snapshot, earlier, later []*veiled) (events []ItemEvent) {
	known, current := v.objects(b, v.baseOf(b)), v.objects(b, now)
	maps.Copy(known, v.known)
	have := func(k key) { // so that known has all keys
		if _, ok := known[k]; !ok {
			known[k] = nil
		}
	}
	for k := range current {
		have(k)
	}
	for _, o := range later {
		for k := range o.objects(b, o.baseOf(b)) {
			if v.hides(k.namespace, k.name) {
				have(k)
			}
		}
	}
	for k, before := range known {
		after := current[k]
		hides := func(o *veiled) bool { return o.until == 0 && o.hides(k.namespace, k.name) }
		i := slices.IndexFunc(later, hides)
		switch {
		case slices.ContainsFunc(earlier, hides):
		case i >= 0:
			later[i].known[k] = before
		case before == nil && after == nil:
		case before == nil:
			events = append(events, ItemEvent{Type: watch.Added, Item: after})
		case after == nil && v.gone[k] != nil:
			events = append(events, *v.gone[k])
		case after == nil:
			events = append(events, ItemEvent{Type: watch.Deleted, Item: before.renumbered(now.version)})
		case before.Version() != after.Version():
			events = append(events, ItemEvent{Type: watch.Modified, Item: after})
		}
	}
	slices.SortFunc(events, func(a, b ItemEvent) int {
		return cmp.Or(cmp.Compare(a.Item.Version(), b.Item.Version()), cmp.Compare(a.Item.Namespace(), b.Item.Namespace()), cmp.Compare(a.Item.Name(), b.Item.Name()))
	})
	return events
}

// objects returns the objects in a state that the Veil hides from a watch.
func (v *veiled) objects(b *behindVeils, s snapshot) map[key]*Item {
	out := map[key]*Item{}
	if s.tree == nil {
		return out
	}
	_ = s.ascend(context.Background(), b.sel.namespace, key{namespace: b.sel.namespace}, func(e entry) bool {
		if it := b.r.read(e.item); v.hides(e.namespace, e.name) && b.sel.matches(it) {
			out[e.key] = it
		}
		return true
	})
	return out
}
