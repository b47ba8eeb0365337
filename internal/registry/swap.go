package registry

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file has kinds that come, change and go while a store is in use (upstream: apiextensions-apiserver,
// apiserver/customresource_handler.go). A Resource has one kind for life. A kind that replaces another one has a
// Resource of its own, with the objects and without the history, and the old one is retired: its reads see the last
// state, its writes fail, and its watches end.

// errDropped is the error of a write to a Resource whose kind is gone.
func errDropped() *meta.StatusError {
	return meta.NewStatusError(http.StatusNotFound, meta.ReasonNotFound, &meta.StatusDetails{},
		"the server could not find the requested resource")
}

// Find returns the collection of a kind, which it makes if there is none. The error says that another kind has the
// group and plural, or that the store is on a Backend and does not have the kind.
func (st *Store) Find(d *kinds.Kind) (*Resource, error) {
	if r, err := st.Known(d); r != nil || err != nil {
		return r, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	r, err := st.findLocked(d)
	if r == nil && err == nil {
		r = st.installLocked(st.newResource(d.Origin())).of(d)
	}
	return r, err
}

// Check returns the error of Find, and makes no collection.
func (st *Store) Check(d *kinds.Kind) error {
	_, err := st.Known(d)
	return err
}

// Known returns the collection of a kind, or nil. The error is the error of Find.
func (st *Store) Known(d *kinds.Kind) (*Resource, error) {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.findLocked(d)
}

// findLocked is Known with the lock held.
func (st *Store) findLocked(d *kinds.Kind) (*Resource, error) {
	r := st.resources[d.Origin().GroupResource()]
	switch {
	case r == nil && st.engine != nil:
		return nil, fmt.Errorf("store: the store is on a backend and was opened without %s", d.GroupResource())
	case r != nil && r.Kind != d.Origin():
		return nil, fmt.Errorf("store: two kinds for %s", d.Origin().GroupResource())
	}
	return r.of(d), nil
}

// named returns the collection of a group and plural, or nil.
func (st *Store) named(gr meta.GroupResource) *Resource {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.resources[gr]
}

// newResource returns the collection of a kind, which install adds to the store.
func (st *Store) newResource(d *kinds.Kind) *Resource {
	return &Resource{d, &collection{st: st, since: st.dropped.Load(), account: &account{limit: maxRemembered}, tree: btree.NewG(treeDegree, entryLess), index: newIndex()}}
}

// installLocked makes r the collection of its group and plural.
func (st *Store) installLocked(r *Resource) *Resource {
	r.id = st.installed
	st.installed++
	st.resources[r.GroupResource()] = r
	return r
}

// Register makes k the kind of its group and plural. The objects of another kind that it replaces are read as objects
// of k from now on. The error says that an object cannot be read so; then nothing has changed.
func (st *Store) Register(ctx context.Context, k *kinds.Kind) error {
	k = k.Origin()
	e := st.engine
	if e == nil {
		return st.register(ctx, k)
	}
	if err := st.Loaded(ctx); err != nil {
		return err
	}
	if err := e.register(ctx, k); err != nil {
		return err
	}
	r, err := st.Find(k)
	if err != nil {
		return err
	}
	return e.waitFor(ctx, r, r.since) // its objects may be newer than the cache
}

// register is Register while no changes of the backend are taken over.
func (e *engine) register(ctx context.Context, k *kinds.Kind) error {
	e.turn.Lock()
	defer e.turn.Unlock()
	return e.st.register(ctx, k)
}

// register is Register with e.turn held, if there is an engine.
func (st *Store) register(ctx context.Context, k *kinds.Kind) error {
	old := st.named(k.GroupResource())
	// New is a function of the user, so it is called without the lock.
	same := old == nil || reflect.TypeOf(old.Kind.New(0)) == reflect.TypeOf(k.New(0))
	if old != nil && !same && old.Kind != k {
		if err := old.snapshot().readable(k); err != nil {
			return err
		}
	}
	st.mu.Lock()
	if st.resources[k.GroupResource()] != old { // another Register was faster
		st.mu.Unlock()
		return st.register(ctx, k)
	}
	switch {
	case old == nil && st.engine != nil:
		st.mu.Unlock()
		return st.engine.add(ctx, k)
	case old == nil:
		st.installLocked(st.newResource(k))
		st.mu.Unlock()
		return nil
	case old.Kind == k && old.retired.Load() == nil:
		st.mu.Unlock()
		return nil
	}
	st.replaceLocked(old, k)
	st.mu.Unlock()
	st.hub.Signal()
	return nil
}

// readable returns the error of an object that cannot be read as one of a kind.
func (s snapshot) readable(k *kinds.Kind) (err error) {
	s.tree.Ascend(func(e entry) bool {
		_, err = e.item.as(k)
		return err == nil
	})
	return err
}

// replaceLocked retires a collection in favour of one of another kind with its objects, which are converted when they are read.
func (st *Store) replaceLocked(old *Resource, k *kinds.Kind) {
	r := st.newResource(k)
	r.tree, r.index = old.tree.Clone(), old.index
	old.index = nil
	st.installLocked(r)
	r.since = st.version
	r.terminating.Store(old.terminating.Load())
	if e := st.engine; e != nil {
		e.replaced(old, r)
	}
	old.retireLocked(ErrInitializing())
}

func (r *Resource) read(it *Item) *Item { return it.under(r.Kind) }

// under reads the item by the present kind k, converting it once and remembering the result.
func (it *Item) under(k *kinds.Kind) *Item {
	if it == nil || it.kind == k || it.kind.Origin() == k.Origin() {
		return it
	}
	k = k.Origin()
	before := it.reading.Load()
	if before != nil && before.kind == k {
		return before
	}
	next, err := it.as(k)
	if err != nil {
		// A write of an object that the new Go type cannot read was faster than the change of the kind. The type's own zero stands for it.
		next = newItem(k, k.New(0), it.version)
		*next.obj.GetObjectMeta() = *it.meta()
	}
	if it.reading.CompareAndSwap(before, next) {
		return next
	}
	if now := it.reading.Load(); now.kind == k {
		return now // another goroutine was faster
	}
	return next
}

// as returns the item as one of another kind, or an error that names the object.
func (it *Item) as(k *kinds.Kind) (*Item, error) {
	value, err := it.kind.StoredValue(it.kind.Type().CopyStruct(it.obj).(kinds.Object))
	if err != nil {
		return nil, err
	}
	o, err := k.DecodeStored(value)
	if err != nil && reflect.TypeOf(it.obj) == reflect.TypeOf(k.New(0)) {
		return &Item{kind: k, obj: it.obj, version: it.version, size: it.size}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: the %s %s/%s cannot be read as an object of the new kind: %w", it.kind.GroupResource(), it.Namespace(), it.Name(), err)
	}
	next := newItem(k, o, it.version)
	next.size = it.size // as it is counted, until it is written
	setResourceVersion(o, it.version)
	if it.isFilled() || k.Info().Trees && !k.Type().Equal(o, it.obj) {
		next.fill()
	}
	return next, nil
}

// Drop deletes all objects of a kind, whatever finalizers they have, and then retires its collection. Watches get
// the deletions, and then end. A store in memory forgets the kind and its changes.
func (st *Store) Drop(ctx context.Context, k *kinds.Kind) error {
	r, err := st.Known(k)
	if r == nil {
		return err
	}
	for {
		r.snapshot().tree.Ascend(func(e entry) bool {
			_, err = st.source.commit(ctx, r, write{key: e.key, outcome: remove, old: e.item})
			if _, lost := err.(*lostRace); lost {
				err = nil
			}
			return err == nil
		})
		if err != nil {
			return err
		}
		st.mu.Lock()
		empty := r.tree.Len() == 0
		if empty {
			r.retireLocked(errDropped())
			if st.engine == nil && st.resources[k.GroupResource()] == r {
				delete(st.resources, k.GroupResource())
				st.dropped.Store(st.version)
				st.hub.Forget(r.id)
			}
		}
		st.mu.Unlock()
		if empty {
			st.hub.Signal()
			return nil
		}
	}
}

// EndWatches ends the watches of a kind that have EndWithoutContact set. Like Drop and SetTerminating it makes no collection: one of a
// kind that is gone would stay.
func (st *Store) EndWatches(k *kinds.Kind) {
	if r, _ := st.Known(k); r != nil {
		r.epoch.Add(1)
		st.hub.Signal()
	}
}

// SetTerminating sets whether the definition of a kind is terminating. While it is, nothing can be created.
func (st *Store) SetTerminating(k *kinds.Kind, terminating bool) {
	if r, _ := st.Known(k); r != nil {
		r.terminating.Store(terminating)
	}
}

// Terminating reports whether the definition of a kind is terminating.
func (st *Store) Terminating(k *kinds.Kind) bool {
	r := st.named(k.GroupResource())
	return r != nil && r.terminating.Load()
}

// mayCreate refuses a create while the definition of the kind is terminating (upstream: apiextensions-apiserver,
// apiserver/customresource_handler.go, forbidCreateAdmission).
func (r *Resource) mayCreate(name string) error {
	if !r.terminating.Load() {
		return nil
	}
	gr, named := r.GroupResource(), r.GroupResource().String()
	if name != "" {
		named += " " + strconv.Quote(name)
	}
	return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, &meta.StatusDetails{Name: name, Group: gr.Group, Kind: gr.Resource},
		named+" is forbidden: create not allowed while custom resource definition is terminating")
}

// add makes the collection of a kind that comes later, and reads its objects. e.turn is held.
func (e *engine) add(ctx context.Context, k *kinds.Kind) error {
	prefix, st := k.Info().StoragePrefix, e.st
	if other := e.prefixes[prefix]; other != nil {
		return prefixTaken(k, other.Kind)
	}
	var version uint64
	all, err := call(ctx, e, func(ctx context.Context) (all []backend.Stored, err error) {
		all, version, err = e.b.List(ctx, prefix+"/")
		return all, err
	})
	if err != nil {
		return err
	}
	r := st.newResource(k)
	r.since, e.prefixes[prefix] = version, r
	trees, unread := e.treesOf(slices.Values(all))
	r.tree, r.index = trees[r], nil
	st.mu.Lock()
	defer st.mu.Unlock()
	st.installLocked(r)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unreadable = append(e.unreadable, unread...)
	return nil
}

// replaced follows the collection that replaces another one. e.turn and st.mu are held.
func (e *engine) replaced(old, now *Resource) {
	delete(e.prefixes, old.Info().StoragePrefix)
	e.prefixes[now.Info().StoragePrefix] = now
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.unreadable {
		if e.unreadable[i].r.collection == old.collection {
			e.unreadable[i].r = now
		}
	}
}

func prefixTaken(k, other *kinds.Kind) error {
	return fmt.Errorf("store: StoragePrefix: got %q for %s and %s, want one for each kind", k.Info().StoragePrefix, other.GroupResource(), k.GroupResource())
}
