package registry

import (
	"context"

	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file has the methods of the engine as a source.

// present returns the present version of the Backend.
func (e *engine) present(ctx context.Context) (uint64, error) { return call(ctx, e, e.b.Version) }

// waitFor waits until the cache has a version, at most futureWait.
func (e *engine) waitFor(ctx context.Context, _ *Resource, version uint64) error {
	if err := e.checkLoaded(); err != nil || e.st.ResourceVersion() >= version {
		return err
	}
	e.waiting.Add(1)
	defer e.waiting.Add(-1)
	select {
	case e.ask <- struct{}{}:
	default: // it is asked already
	}
	return e.st.waitFor(ctx, version)
}

// get reads an object from the Backend if the cache lags (upstream: apiserver, storage/cacher/delegator.go).
func (e *engine) get(ctx context.Context, r *Resource, k key) (*Item, error) {
	version, err := e.present(ctx)
	if err != nil {
		return nil, err
	}
	if e.st.ResourceVersion() >= version {
		return e.lookup(r, k)
	}
	s, err := call(ctx, e, func(ctx context.Context) (backend.Stored, error) { return e.b.Get(ctx, r.storedKey(k)) })
	if err != nil || s.Version == 0 {
		return nil, err
	}
	return e.itemOf(r, k, s)
}

func (e *engine) lookup(r *Resource, k key) (*Item, error) {
	it := r.lookup(k)
	if it == nil {
		return nil, e.checkReadable(r, k.namespace, k.name, e.st.ResourceVersion())
	}
	return it, nil
}

func (e *engine) current(ctx context.Context, r *Resource) (s snapshot, err error) {
	version, err := e.present(ctx)
	if err != nil {
		return s, err
	}
	if err := e.waitFor(ctx, r, version); err != nil {
		return s, err
	}
	return r.snapshot(), nil
}

func (e *engine) commit(ctx context.Context, r *Resource, w write) (write, error) {
	if err := r.retired.Load(); err != nil {
		return w, err
	}
	b := backend.Write{Key: r.storedKey(w.key)}
	if w.old != nil {
		b.Expect = w.old.version
	}
	if w.obj != nil {
		var err error
		if b.Value, err = r.Kind.StoredValue(w.obj); err != nil {
			return w, err
		}
	}
	done, err := call(ctx, e, func(ctx context.Context) (backend.Committed, error) { return e.b.Commit(ctx, b) })
	if err != nil {
		return w, err
	}
	if done.Done {
		w.version = done.Version
		e.st.waitFor(ctx, w.version) // the write is done; the next read of the writer must see it
		if w.obj != nil {
			w.answer, err = e.itemOf(r, w.key, backend.Stored{Key: b.Key, Value: b.Value, Version: w.version})
		}
		return w, err
	}
	lost := &lostRace{}
	if done.Have.Version != 0 {
		if lost.have, err = e.itemOf(r, w.key, done.Have); err != nil {
			return w, err
		}
	}
	return w, lost
}

// checkStart refuses a watch while contact to the Backend is lost. Otherwise it returns how often
// contact was lost before. leaves is ListOptions.EndWithoutContact.
func (e *engine) checkStart(leaves bool) (losses int64, err error) {
	if err := e.checkLoaded(); err != nil || e == nil || !leaves {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost {
		return 0, ErrInitializing()
	}
	return e.losses.Load(), nil
}

// CheckContact returns the error of a watch that ends without contact to the Backend, if it must not start now.
func (st *Store) CheckContact() error {
	_, err := st.engine.checkStart(true)
	return err
}

// notOnBackend is the error of a method that a store on a Backend does not have.
func notOnBackend(what, why string) error {
	return meta.NewBadRequest("store: %s: the store is on a backend: %s", what, why)
}
