package registry

import (
	"context"

	"github.com/kubecoord/kubecoord/store/meta"
)

// get returns the present state of an object, or nil. If the cache lags, it is read from the
// Backend (upstream: apiserver, storage/cacher/delegator.go).
func (e *engine) get(ctx context.Context, r *Resource, k key) (*Item, error) {
	version, err := e.version(ctx)
	if err != nil {
		return nil, err
	}
	if e.st.ResourceVersion() >= version {
		return e.cached(r, k)
	}
	return e.fetch(ctx, r, k)
}

// getAt returns the state of an object that a get chooses, or nil.
func (e *engine) getAt(ctx context.Context, r *Resource, k key, read readState) (*Item, error) {
	if read.choice == storedState {
		return e.get(ctx, r, k)
	}
	if err := e.waitFor(ctx, read.version); err != nil {
		return nil, err
	}
	return e.cached(r, k)
}

// cached returns the state of an object in the cache, or nil.
func (e *engine) cached(r *Resource, k key) (*Item, error) {
	it := r.lookup(k)
	if it == nil {
		return nil, e.checkReadable(r, k.namespace, k.name, e.st.ResourceVersion())
	}
	return it, nil
}

// fetch reads the present state of an object from the Backend. It is nil if there is none.
func (e *engine) fetch(ctx context.Context, r *Resource, k key) (*Item, error) {
	ctx, cancel, err := e.call(ctx)
	defer cancel()
	if err != nil {
		return nil, err
	}
	s, err := e.b.Get(ctx, r.storedKey(k))
	if err != nil {
		return nil, e.failed(ctx, err)
	}
	if s.Version == 0 {
		return nil, nil
	}
	return e.itemOf(r, k, s)
}

// waitFor waits until the cache has a version, at most futureWait.
func (e *engine) waitFor(ctx context.Context, version uint64) error {
	if err := e.checkLoaded(); err != nil || e.st.ResourceVersion() >= version {
		return err
	}
	e.waiting.Add(1)
	defer e.waiting.Add(-1)
	e.askProgress()
	return e.st.waitFor(ctx, version)
}

// present waits until the cache has the present version.
func (e *engine) present(ctx context.Context) error {
	version, err := e.version(ctx)
	if err != nil {
		return err
	}
	return e.waitFor(ctx, version)
}

// stateFor is Resource.stateFor for a store on a Backend.
func (e *engine) stateFor(ctx context.Context, r *Resource, read readState) (s snapshot, err error) {
	switch read.choice {
	case currentState:
		err = e.present(ctx)
	case storedState, storedExactState:
		if err = e.present(ctx); err == nil {
			return r.storedState(read)
		}
	default:
		err = e.waitFor(ctx, read.version)
	}
	switch {
	case err != nil:
		return s, err
	case read.choice == exactState:
		return r.at(read.version)
	}
	return r.snapshot(), nil
}

// startOnEngine is start for a watch of a store on a Backend.
func (w *Watcher) startOnEngine(ctx context.Context, opts WatchOptions, version uint64) (err error) {
	e, sends := w.r.st.engine, opts.SendInitialEvents
	switch {
	case sends == nil && version == 0:
		return w.startWithState(false)
	case opts.ResourceVersion == "":
		if version, err = e.version(ctx); err != nil {
			return err
		}
	case version == 0:
		version = w.r.st.ResourceVersion()
	}
	if sends == nil || !*sends {
		return w.open(version, w.r.st.now())
	}
	if err := e.waitFor(ctx, version); err != nil {
		return err
	}
	return w.startWithState(w.bookmarks)
}

// checkStart returns the error of a watch that must not start now.
func (e *engine) checkStart(leaves bool) error {
	if err := e.checkLoaded(); err != nil || !leaves {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lostLocked() {
		return errInitializing()
	}
	return nil
}

// CheckContact returns the error of a watch that ends without contact to the Backend, if it
// must not start now.
func (st *Store) CheckContact() error {
	if st.engine == nil {
		return nil
	}
	return st.engine.checkStart(true)
}

// notOnBackend is the error of what a store on a Backend cannot do.
func notOnBackend(what, why string) error {
	return meta.NewBadRequest("store: %s: the store is on a backend: %s", what, why)
}
