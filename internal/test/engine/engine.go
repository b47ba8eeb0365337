package engine

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/store/backend"
)

// Engine keeps values in memory. The zero value is not usable; see New.
type Engine struct {
	mu        sync.Mutex // guards all below
	version   uint64
	compacted uint64 // changes up to this version are gone
	changes   []revision
	all       []backend.Stored          // every change, also compacted ones
	base      map[string]backend.Stored // the state at compacted
	now       map[string]backend.Stored
	asks      int           // how often progress was asked for
	moved     chan struct{} // closed when anything changes, also the settings
	faults    Faults
	commits   int
	gets      int
}

// Faults are the failures of an Engine. All may be changed at any time by Set.
type Faults struct {
	// Hold keeps changes from followers.
	Hold bool
	// Cut breaks the connection: followers lose contact, and calls wait until it is back or
	// their context ends.
	Cut bool
	// Late, if not nil, is called before a follower gets a change.
	Late func(ctx context.Context)
	// Commit, if not nil, may fail a commit, before or after it is made.
	Commit func(w backend.Write) (before, after error)
	// End, if not nil, ends Follow for good, before it loads anything if it is set by then.
	End error
	// Err, if not nil, is the error of Get and Version.
	Err error
}

// revision is all changes of one version.
type revision struct {
	version uint64
	changes []backend.Stored
}

// New returns an empty Engine at a version. It has no changes before that.
func New(version uint64) *Engine {
	return &Engine{version: version, compacted: version, base: map[string]backend.Stored{}, now: map[string]backend.Stored{}, moved: make(chan struct{})}
}

// Set changes the faults.
func (e *Engine) Set(change func(*Faults)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(&e.faults)
	e.wakeLocked()
}

func (e *Engine) wakeLocked() {
	close(e.moved)
	e.moved = make(chan struct{})
}

// Put changes keys in one version, as another user of the Engine would. A nil value deletes.
func (e *Engine) Put(values map[string][]byte) (version uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.putLocked(values)
}

func (e *Engine) putLocked(values map[string][]byte) uint64 {
	e.version++
	r := revision{version: e.version}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		r.changes = append(r.changes, backend.Stored{Key: k, Value: values[k], Version: e.version})
	}
	e.addLocked(r)
	return e.version
}

// DeleteRange deletes all keys with a prefix in one version, and returns how many there were.
func (e *Engine) DeleteRange(prefix string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	values := map[string][]byte{}
	for k := range e.now {
		if strings.HasPrefix(k, prefix) {
			values[k] = nil
		}
	}
	if len(values) > 0 {
		e.putLocked(values)
	}
	return len(values)
}

// Jump lets versions pass without changes of our keys.
func (e *Engine) Jump(n uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.version += n
	e.wakeLocked()
}

// Compact forgets the changes up to now.
func (e *Engine) Compact() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compacted, e.base, e.changes = e.version, maps.Clone(e.now), nil
}

// Value returns the value of a key, or nil.
func (e *Engine) Value(key string) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now[key].Value
}

// History returns every change, also those before a compaction, and the present version.
func (e *Engine) History() (changes []backend.Stored, version uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clip(e.all), e.version
}

// Calls returns how often Commit and Get were called.
func (e *Engine) Calls() (commits, gets int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.commits, e.gets
}

func (e *Engine) addLocked(r revision) {
	e.changes = append(e.changes, r)
	e.all = append(e.all, r.changes...)
	apply(e.now, r)
	e.wakeLocked()
}

// apply makes the changes of a version in a state.
func apply(state map[string]backend.Stored, r revision) {
	for _, s := range r.changes {
		if s.Value == nil {
			delete(state, s.Key)
		} else {
			state[s.Key] = s
		}
	}
}

// connected waits until there is a connection, and then holds the lock.
func (e *Engine) connected(ctx context.Context) error {
	for {
		e.mu.Lock()
		if !e.faults.Cut {
			return nil
		}
		moved := e.moved
		e.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Commit implements backend.Backend.
func (e *Engine) Commit(ctx context.Context, w backend.Write) (backend.Committed, error) {
	if err := e.connected(ctx); err != nil {
		return backend.Committed{}, err
	}
	defer e.mu.Unlock()
	e.commits++
	var after error
	if e.faults.Commit != nil {
		var before error
		if before, after = e.faults.Commit(w); before != nil {
			return backend.Committed{}, before
		}
	}
	have := e.now[w.Key]
	if have.Version != w.Expect {
		return backend.Committed{Have: have}, nil
	}
	e.version++
	e.addLocked(revision{e.version, []backend.Stored{{Key: w.Key, Value: w.Value, Version: e.version}}})
	return backend.Committed{Done: true, Version: e.version}, after
}

// Get implements backend.Backend.
func (e *Engine) Get(ctx context.Context, key string) (backend.Stored, error) {
	if err := e.connected(ctx); err != nil {
		return backend.Stored{}, err
	}
	defer e.mu.Unlock()
	e.gets++
	return e.now[key], e.faults.Err
}

// List implements backend.Backend.
func (e *Engine) List(ctx context.Context, prefix string) (all []backend.Stored, version uint64, err error) {
	if err := e.connected(ctx); err != nil {
		return nil, 0, err
	}
	defer e.mu.Unlock()
	for key, s := range e.now {
		if strings.HasPrefix(key, prefix) && s.Value != nil {
			all = append(all, s)
		}
	}
	return all, e.version, e.faults.Err
}

// Version implements backend.Backend.
func (e *Engine) Version(ctx context.Context) (uint64, error) {
	if err := e.connected(ctx); err != nil {
		return 0, err
	}
	defer e.mu.Unlock()
	return e.version, e.faults.Err
}

// Progress implements backend.Backend.
func (e *Engine) Progress() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asks++
	e.wakeLocked()
}

// errCompacted says that the changes after a version are gone.
var errCompacted = errors.New("compacted")

// Follow implements backend.Backend.
func (e *Engine) Follow(ctx context.Context, history int, f backend.Follower) error {
	if err := e.connected(ctx); err != nil {
		return err
	}
	if end := e.faults.End; end != nil {
		e.mu.Unlock()
		return end
	}
	from := max(e.version-min(e.version, uint64(history)), e.compacted)
	e.mu.Unlock()
	for {
		state, version := e.stateAt(from)
		if err := f.Load(state, version); err != nil {
			return err
		}
		err := e.followFrom(ctx, version, f)
		if !errors.Is(err, errCompacted) {
			return err
		}
		from = ^uint64(0)
	}
}

// stateAt returns the state at a version, or the present one if that is lower.
func (e *Engine) stateAt(version uint64) (iter.Seq[backend.Stored], uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	version = min(version, e.version)
	state := maps.Clone(e.base)
	for _, r := range e.changes {
		if r.version <= version {
			apply(state, r)
		}
	}
	return maps.Values(state), version
}

// followFrom reports the changes after a version.
func (e *Engine) followFrom(ctx context.Context, at uint64, f backend.Follower) error {
	contact, answered := false, 0
	for {
		e.mu.Lock()
		if e.faults.End != nil {
			defer e.mu.Unlock()
			return e.faults.End
		}
		cut, late, moved := e.faults.Cut, e.faults.Late, e.moved
		held := cut || e.faults.Hold
		if !held && at < e.compacted {
			e.mu.Unlock()
			return errCompacted
		}
		var next *revision
		i, _ := slices.BinarySearchFunc(e.changes, at+1, func(r revision, v uint64) int {
			return int(int64(r.version) - int64(v))
		})
		if !held && i < len(e.changes) {
			next = &e.changes[i]
		}
		asked, version := answered < e.asks && !held && next == nil, e.version
		if asked {
			answered = e.asks
		}
		e.mu.Unlock()
		if cut == contact {
			contact = !cut
			f.Contact(contact)
		}
		switch {
		case next != nil:
			if late != nil {
				late(ctx)
			}
			if err := f.Changed(next.version, next.changes); err != nil {
				return err
			}
			at = next.version
			continue
		case asked:
			f.Reached(version)
			at = max(at, version)
			continue
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
