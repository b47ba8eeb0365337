package registry

import (
	"context"
	"errors"
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
