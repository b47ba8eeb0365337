package registry

import (
	"context"
	"errors"
)

// attempt makes a change until no other write comes first. It begins with the state in the
// tree, which on a Backend may be old. What is decided from that without a commit, a refusal or
// a write that changes nothing, is decided again unless that is the present state (upstream:
// apiserver, storage/etcd3/store.go, GuaranteedUpdate). The error is errRace after too many tries.
func (r *Resource) attempt(ctx context.Context, req Request, tries int, c Change) (write, error) {
	current, confirmed := r.lookup(req.key()), false
	for {
		if err := ctx.Err(); err != nil {
			return write{}, err
		}
		w, err := c.plan(r, current, req)
		if err == nil && !w.done {
			if w, err = r.st.source.commit(ctx, r, w); err == nil {
				return w, nil // errors.AsType costs 4 us on first use
			}
			lost, isLost := errors.AsType[*lostRace](err)
			if !isLost {
				return w, err
			}
			if tries--; tries == 0 {
				return w, errRace
			}
			current, confirmed = lost.have, true
			continue
		}
		if confirmed {
			return w, err
		}
		have, getErr := r.st.source.get(ctx, r, req.key())
		if getErr != nil {
			return write{}, getErr
		}
		if sameState(have, current) {
			return w, err
		}
		current, confirmed = have, true
	}
}

// errRace sends a write back to its first step.
var errRace = errors.New("another write came first")

// lostRace is an errRace that knows what the other write left.
type lostRace struct {
	have *Item // nil if it was a deletion
}

// Error returns the text of errRace.
func (*lostRace) Error() string { return errRace.Error() }

// sameState reports whether two items, which may be nil, are of the same version.
func sameState(a, b *Item) bool {
	return a == nil && b == nil || a != nil && b != nil && a.version == b.version
}
