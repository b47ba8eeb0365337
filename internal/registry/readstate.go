package registry

import (
	"context"
	"errors"

	"github.com/kubecoord/kubecoord/store/meta"
)

// stateChoice selects the state that a read is served from (API concepts, "Resource
// versions"; upstream: storage.ValidateListOptions and storage/cacher).
type stateChoice int

const (
	anyState     stateChoice = iota // the server's state, which may be old
	currentState                    // not older than the store is now
	atLeastState                    // not older than a version, which is waited for
	exactState                      // at a version, which is waited for
	// storedState and storedExactState bypass the cache of a real server: now, or at a
	// version, which must not lie in the future.
	storedState
	storedExactState
)

// readState is the choice that the options of a read make.
type readState struct {
	choice  stateChoice
	version uint64
	// start is the first key of a list, relative to its namespace. limit bounds its items; 0 means no limit.
	start string
	limit int64
	paged bool // start comes from a continue token
}

// chooseGet returns the state for a get.
func chooseGet(resourceVersion string) (readState, error) {
	version, err := parseReadVersion(resourceVersion)
	switch {
	case err != nil:
		return readState{}, err
	case resourceVersion == "":
		return readState{choice: storedState}, nil
	case version == 0:
		return readState{choice: anyState}, nil
	}
	return readState{choice: atLeastState, version: version}, nil
}

// chooseList returns the state for a list. single means that at most one object can match.
func chooseList(o ListOptions, single bool) (readState, error) {
	if o.Continue != "" {
		return choosePage(o)
	}
	version, err := parseReadVersion(o.ResourceVersion)
	if err != nil {
		return readState{}, meta.NewBadRequest("invalid resource version: %s", err)
	}
	read := readState{version: version, limit: max(o.Limit, 0)}
	exact := o.ResourceVersionMatch == MatchExact || o.ResourceVersionMatch == "" && o.Limit > 0
	switch {
	case o.ResourceVersion == "":
		read.choice = currentState
	case version == 0:
		read.choice = anyState
		if o.ResourceVersion == "0" { // a limit counts beside "00"
			read.limit = 0
		}
	case exact && single && o.ResourceVersionMatch == MatchExact:
		read.choice = storedExactState
	case exact && single:
		// With a single key a limit does not mean the exact version.
		read.choice = storedState
	case exact:
		read.choice = exactState
	default:
		read.choice = atLeastState
	}
	return read, nil
}

// choosePage returns the state for a list with a continue token.
func choosePage(o ListOptions) (readState, error) {
	version, start, err := decodeContinue(o.Continue)
	if err != nil {
		return readState{}, err
	}
	read := readState{choice: exactState, start: start, limit: max(o.Limit, 0), paged: true}
	switch {
	case o.ResourceVersion == "0":
		read.limit = 0
	case o.ResourceVersion != "":
		return readState{}, meta.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	if version < 0 {
		read.choice = currentState
		return read, nil
	}
	read.version = uint64(version)
	return read, nil
}

// stateFor returns the chosen state of the reader in the context. It may wait for a version, at most futureWait.
func (r *Resource) stateFor(ctx context.Context, read readState, waiting Waiting) (s snapshot, err error) {
	from := r.st.reader(ctx)
	switch read.choice {
	case currentState:
		s, err = from.current(ctx, r)
	case storedState, storedExactState:
		s, err = r.storedState(ctx, read)
	default:
		if err := waiting.waitFor(ctx, r, read.version); err != nil {
			return s, err
		}
		if read.choice == exactState {
			s, err = from.at(r, read.version)
		} else {
			s, err = from.state(r)
		}
	}
	switch {
	case !errors.Is(err, errSnapshotGone):
		return s, err
	case read.paged:
		return s, expiredContinue(read.start)
	}
	return s, expiredList()
}

// waitFor waits until the reader in the context sees a version, at most futureWait.
func (w Waiting) waitFor(ctx context.Context, r *Resource, version uint64) error {
	from := r.st.reader(ctx)
	if w == nil || version <= min(from.position(r).version, r.st.ResourceVersion()) {
		return from.waitFor(ctx, r, version)
	}
	return w(func() error { return from.waitFor(ctx, r, version) })
}

// storedState returns a state of the store without waiting for a version of the future.
func (r *Resource) storedState(ctx context.Context, read readState) (snapshot, error) {
	now, err := r.st.source.current(ctx, r)
	switch {
	case err != nil:
		return snapshot{}, err
	case read.version > now.version:
		return snapshot{}, tooLarge(read.version, now.version, 0)
	case read.choice == storedExactState:
		return r.at(read.version)
	}
	return now, nil
}
