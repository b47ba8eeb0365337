package registry

import (
	"context"

	"github.com/kubecoord/kubecoord/internal/backend"
)

// commit replaces the state of an object, or nil, by obj, or deletes it if obj is nil. It
// returns the version of the change. The error is a *lostRace if the object has another state.
func (e *engine) commit(ctx context.Context, r *Resource, req *Request, current *Item, obj Object) (version uint64, s backend.Stored, err error) {
	w := backend.Write{}
	k := req.key()
	if current != nil {
		k, w.Expect = current.key(), current.version
	}
	if obj != nil {
		m := obj.GetObjectMeta()
		k = key{m.Namespace, m.Name}
		if w.Value, err = r.kind.storedValue(obj); err != nil {
			return 0, s, err
		}
	}
	w.Key = r.storedKey(k)
	call, cancel, err := e.call(ctx)
	defer cancel()
	if err != nil {
		return 0, s, err
	}
	req.sent = true
	done, err := e.b.Commit(call, w)
	switch {
	case err != nil:
		return 0, s, e.failed(call, err)
	case done.Done:
		e.waitForOwn(ctx, done.Version)
		return done.Version, backend.Stored{Key: w.Key, Value: w.Value, Version: done.Version}, nil
	case done.Have.Version == 0:
		return 0, s, &lostRace{}
	}
	have, err := e.itemOf(r, k, done.Have)
	if err != nil {
		return 0, s, err
	}
	return 0, s, &lostRace{have}
}

// waitForOwn waits until the cache has a change that was made here, so that its writer reads
// it. It waits at most futureWait: the change is made, whatever comes.
func (e *engine) waitForOwn(ctx context.Context, version uint64) {
	if e.st.ResourceVersion() < version {
		e.st.waitFor(ctx, version)
	}
}

// insert commits a new object, unless the name is taken.
func (e *engine) insert(ctx context.Context, r *Resource, o Object, req *Request) (*Item, error) {
	if !req.DryRun {
		return e.put(ctx, r, req, nil, o)
	}
	m := o.GetObjectMeta()
	have, err := e.fetch(ctx, r, key{m.Namespace, m.Name})
	switch {
	case err != nil:
		return nil, err
	case have != nil:
		return nil, &lostRace{have}
	}
	return newItem(r.kind, o, 0), nil
}

// put commits obj in place of the current state, and returns its item.
func (e *engine) put(ctx context.Context, r *Resource, req *Request, current *Item, obj Object) (*Item, error) {
	_, s, err := e.commit(ctx, r, req, current, obj)
	if err != nil {
		return nil, err
	}
	m := obj.GetObjectMeta()
	return e.itemOf(r, key{m.Namespace, m.Name}, s)
}

// remove commits the deletion of the current state, and returns its version.
func (e *engine) remove(ctx context.Context, r *Resource, req *Request, current *Item) (version uint64, err error) {
	version, _, err = e.commit(ctx, r, req, current, nil)
	return version, err
}
