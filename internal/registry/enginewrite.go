package registry

import (
	"context"
	"errors"

	"github.com/kubecoord/kubecoord/internal/backend"
)

// attempt runs a write until no other one comes first. try makes the next state from the
// current one, which is nil if there is no object, and commits it. Its error is errRace if
// another write came first.
func (r *Resource) attempt(ctx context.Context, req *Request, tries int, try func(current *Item) (*Item, error)) (*Item, error) {
	if e := r.st.engine; e != nil {
		return e.attempt(ctx, r, req, tries, try)
	}
	for ; tries > 0; tries-- {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		it, err := try(r.lookup(req.key()))
		if err == nil || !errors.Is(err, errRace) {
			return it, err
		}
	}
	return nil, errRace
}

// errRace sends a write back to its first step.
var errRace = errors.New("another write came first")

// lostRace is an errRace that knows what the other write left.
type lostRace struct {
	have *Item // nil if it was a deletion
}

// Error returns the text of errRace.
func (*lostRace) Error() string { return errRace.Error() }

// Is reports whether target is errRace.
func (*lostRace) Is(target error) bool { return target == errRace }

// attempt is Resource.attempt for a store on a Backend. It begins with the state in the cache,
// which may be old. What try decides from that without a commit, a refusal or a write that
// changes nothing, is decided again from the state that the Backend has, unless that is the
// same (upstream: apiserver, storage/etcd3/store.go, GuaranteedUpdate).
func (e *engine) attempt(ctx context.Context, r *Resource, req *Request, tries int, try func(current *Item) (*Item, error)) (*Item, error) {
	current, confirmed := r.lookup(req.key()), false
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		req.sent = false
		it, err := try(current)
		lost, isLost := errors.AsType[*lostRace](err)
		switch {
		case isLost && tries == 1:
			return nil, errRace
		case isLost:
			current, confirmed = lost.have, true
			tries--
		case req.sent || confirmed:
			return it, err
		default:
			have, fetchErr := e.fetch(ctx, r, req.key())
			if fetchErr != nil {
				return nil, fetchErr
			}
			if sameState(have, current) {
				return it, err
			}
			current, confirmed = have, true
		}
	}
}

// sameState reports whether two items, which may be nil, are of the same version.
func sameState(a, b *Item) bool {
	return a == nil && b == nil || a != nil && b != nil && a.version == b.version
}

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

// remove commits the deletion of the current state, and returns its last state.
func (e *engine) remove(ctx context.Context, r *Resource, req *Request, current *Item) (*Item, error) {
	version, _, err := e.commit(ctx, r, req, current, nil)
	if err != nil {
		return nil, err
	}
	return current.renumbered(version), nil
}
