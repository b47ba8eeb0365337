package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// ReplicaOptions configures how a Replica lags. At most one of Version, Changes and Age may
// be set. The zero value stops at the current version.
type ReplicaOptions struct {
	// Version is where the Replica stops, or the current version if that is lower. History must reach back to it.
	Version uint64
	// Changes is how many changes of each kind the Replica lags.
	Changes int
	// Age is how long each change takes to reach the Replica, by the store's clock. The
	// store must record times: Options.HistoryAge must be set, or Observe called.
	Age time.Duration
	// EveryRead serves reads without a resourceVersion as if it were "0". No API server
	// does so, but caches in front of one may.
	EveryRead bool
	// Only, if not nil, limits the lag to the objects for which it returns true: reads see the others as they are now. Changes and
	// Age must not be set. Watches need the Veil of the Replica.
	Only func(namespace, name string) bool
	// NoWatchList makes the Replica a server without the feature gate WatchList: watches with sendInitialEvents are ErrInvalid.
	NoWatchList bool
}

// Replica serves reads like an API server with a watch cache that lags behind the store
// (upstream: apiserver, storage/cacher):
//
//   - Gets, lists and watches with resourceVersion "0" see the version of the Replica.
//   - A read waits for a version that the Replica does not have, exact or not, three
//     seconds at most. Then the error is ErrTimeout, "Too large resource version".
//   - A watch gets changes and bookmarks up to the version of the Replica.
//   - Reads without a resourceVersion are consistent. A get is served by the store. A list
//     waits for the Replica, three seconds at most, and is then served by the store; a
//     watch that starts with the state fails with ErrTimeout instead.
//
// Writes go to the store. A stopped Replica keeps its state after history has expired. A
// Replica that follows the store is never behind the oldest version of history. A Replica
// does not have to be closed. Its methods may be called from any goroutine.
type Replica struct {
	memory // the store
	opts   ReplicaOptions
	moved  chan struct{} // closed when it has caught up

	// mu guards all below. The clock is called while it is held.
	mu       sync.Mutex
	version  uint64                          // not used with Changes
	kept     map[meta.GroupResource]snapshot // the state at which it stopped, also of a kind that is replaced later; else nil
	caughtUp bool
	floor    uint64 // watches before this version are expired
}

// NewReplica returns a Replica of the store. The error names the option and the expected value.
func (st *Store) NewReplica(opts ReplicaOptions) (*Replica, error) {
	if st.engine != nil {
		return nil, notOnBackend("Replica", "it is a replica itself")
	}
	st.mu.RLock()
	now, aging := st.version, st.aging.Load()
	st.mu.RUnlock()
	p := &Replica{memory: memory{st}, opts: opts, moved: make(chan struct{}), version: now}
	switch {
	case opts.Age > 0 && !aging:
		return nil, fmt.Errorf("Age: got %v, want 0, or a store with Options.HistoryAge or an Observer: only these record the times of changes", opts.Age)
	case opts.Age > 0:
		p.version = st.oldest()
	case opts.Changes > 0:
	default:
		p.version = min(cmp.Or(opts.Version, now), now)
		if err := p.stop(); err != nil {
			return nil, fmt.Errorf("Version: got %d, want %d or more: history does not reach back further", p.version, st.oldest())
		}
	}
	return p, nil
}

func (st *Store) oldest() uint64 { return st.hub.Oldest(st.now()) }

// Context returns a context. The Replica serves reads with this context.
func (p *Replica) Context(parent context.Context) context.Context {
	return context.WithValue(parent, replicaKey{}, p)
}

// replicaKey is the context key of a Replica.
type replicaKey struct{}

// Version returns the version that the Replica has of a kind.
func (p *Replica) Version(r *Resource) uint64 {
	if at := p.position(r); at.version != everything {
		return at.version
	}
	return p.st.ResourceVersion()
}

// CatchUp ends the lag. Watches get every change that they missed.
func (p *Replica) CatchUp() { p.catchUp(0) }

// Jump ends the lag by a new list, like an API server after its own watch has expired.
// Watches that start before the current version, open or new, end with ErrExpired. (A real
// server closes open watches without an error, and sends the error when they reconnect.)
func (p *Replica) Jump() { p.catchUp(p.st.ResourceVersion()) }

func (p *Replica) catchUp(floor uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.caughtUp {
		return
	}
	p.caughtUp, p.floor, p.kept = true, floor, nil
	close(p.moved)
}

// position returns how far the Replica is with a kind.
func (p *Replica) position(r *Resource) position {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.caughtUp || p.opts.Only != nil {
		return position{version: everything, floor: p.floor}
	}
	if p.kept != nil {
		return position{version: p.version, moved: p.moved}
	}
	head, grown := p.st.hub.Head()
	at := position{moved: p.moved, grown: grown}
	if p.opts.Changes > 0 {
		at.version = max(p.st.changesBefore(r, head, p.opts.Changes), r.since)
		return at
	}
	at.next = p.advanceByAgeLocked(head)
	at.version = max(p.version, r.since) // the collection has no earlier state
	return at
}

// changesBefore returns the version n changes of a kind before another, or the oldest version of history.
func (st *Store) changesBefore(r *Resource, version uint64, n int) uint64 {
	oldest := st.oldest()
	changes, _ := st.hub.Changes(oldest, version)
	for _, c := range slices.Backward(changes) {
		if c.Collection == r.id {
			n--
		}
		if n == 0 {
			return c.Version - 1
		}
	}
	return oldest
}

// advanceByAgeLocked advances over the changes that are old enough, and returns when the next one will be.
func (p *Replica) advanceByAgeLocked(head uint64) (next time.Time) {
	now := p.st.now()
	for next.IsZero() && p.version < head {
		p.version = max(p.version, p.st.oldest())
		changes, complete := p.st.hub.Changes(p.version, head)
		for _, c := range changes {
			// A change of the future is of another clock: the store was forked into a bubble, where time begins again.
			if due := c.At.Add(p.opts.Age); due.After(now) && !c.At.After(now) {
				next = due
				break
			}
			p.version = c.Version
		}
		if complete && next.IsZero() {
			p.version = max(p.version, head)
		}
	}
	return next
}

// stop keeps the state of all kinds at the version.
func (p *Replica) stop() (err error) {
	p.st.mu.RLock()
	all := slices.Collect(maps.Values(p.st.resources))
	p.st.mu.RUnlock()
	p.kept = map[meta.GroupResource]snapshot{}
	for _, r := range all {
		if p.kept[r.GroupResource()], err = r.at(p.version); err != nil {
			return err
		}
	}
	return nil
}

// at returns the state of a kind at a version. The state at which the Replica stopped does not expire.
func (p *Replica) at(r *Resource, version uint64) (snapshot, error) {
	p.mu.Lock()
	kept, known := p.kept[r.GroupResource()]
	keeps := p.kept != nil && p.version == version
	p.mu.Unlock()
	switch {
	case keeps && known:
		return kept, nil
	case keeps && version < p.st.oldest():
		// The kind was registered after the Replica had stopped.
		return snapshot{tree: btree.NewG(treeDegree, entryLess), version: version}, nil
	}
	return r.at(version)
}

// state returns the Replica's state of a kind.
func (p *Replica) state(r *Resource) (snapshot, error) {
	for {
		at := p.position(r)
		if at.version == everything {
			return p.mixed(r), nil
		}
		s, err := p.at(r, at.version)
		if err == nil || at.grown == nil {
			return s, err
		}
		// History was lost meanwhile, so the Replica has advanced.
	}
}

// mixed returns the current state, with the objects of ReplicaOptions.Only as they were when the Replica stopped.
func (p *Replica) mixed(r *Resource) snapshot {
	p.mu.Lock()
	kept := p.kept[r.GroupResource()]
	p.mu.Unlock()
	if kept.tree == nil { // it has caught up
		return r.snapshot()
	}
	r.st.mu.Lock()
	now := r.snapshotLocked()
	tree := now.tree.Clone() // not without the lock: see at
	r.st.mu.Unlock()
	pick := func(s snapshot) (entries []entry) {
		_ = s.ascend(context.Background(), "", key{}, func(e entry) bool {
			if p.opts.Only(e.namespace, e.name) {
				entries = append(entries, e)
			}
			return true
		})
		return entries
	}
	for _, e := range pick(now) {
		tree.Delete(e)
	}
	for _, e := range pick(kept) {
		tree.ReplaceOrInsert(e)
	}
	return snapshot{tree: tree, version: now.version}
}

// waitFor waits until the Replica has a version, at most futureWait.
func (p *Replica) waitFor(ctx context.Context, r *Resource, version uint64) error {
	return waitAtMost(ctx, p.st.clock, version, func() uint64 { return p.Version(r) }, func(ctx context.Context) error {
		for {
			at := p.position(r)
			if at.version == everything {
				return p.st.hub.WaitFor(ctx, version)
			}
			if at.version >= version {
				return nil
			}
			if err := p.wait(ctx, at); err != nil {
				return err
			}
		}
	})
}

// due returns when Age lets in the next change after a position, by the clock of timers, which may differ from the store's. The zero time
// is never.
func (p *Replica) due(at position) time.Time {
	if at.next.IsZero() {
		return time.Time{}
	}
	return p.st.clock.Now().Add(at.next.Sub(p.st.now()))
}

// wait blocks until the Replica may have left a position.
func (p *Replica) wait(ctx context.Context, at position) error {
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if due := p.due(at); !due.IsZero() {
		waiting, cancel = clock.WithDeadline(ctx, p.st.clock, due, nil)
	}
	defer cancel()
	select {
	case <-at.moved:
	case <-at.grown:
	case <-p.st.hub.Done():
		return hub.ErrClosed
	case <-waiting.Done():
		return ctx.Err()
	}
	return nil
}

// present returns the version of a read without a resourceVersion.
func (p *Replica) present(context.Context) (uint64, error) {
	if p.opts.EveryRead {
		return 0, nil
	}
	return p.st.ResourceVersion(), nil
}

func (p *Replica) get(ctx context.Context, r *Resource, k key) (*Item, error) {
	if p.opts.EveryRead {
		return p.lookup(r, k)
	}
	return p.memory.get(ctx, r, k)
}

func (p *Replica) lookup(r *Resource, k key) (*Item, error) {
	s, err := p.state(r)
	if err != nil {
		return nil, expiredList()
	}
	e, _ := s.tree.Get(entry{key: k})
	return r.read(e.item), nil
}

// current returns the Replica's state if it catches up in time, else the store's.
func (p *Replica) current(ctx context.Context, r *Resource) (snapshot, error) {
	if p.opts.Only != nil && !p.opts.EveryRead {
		return r.snapshot(), nil
	}
	version, _ := p.present(ctx)
	err := p.waitFor(ctx, r, version)
	switch {
	case err == nil:
		return p.state(r)
	case errors.Is(err, meta.ReasonTimeout):
		return r.snapshot(), nil
	}
	return snapshot{}, err
}

// open returns the events after a version, which the Replica may not have yet.
func (p *Replica) open(r *Resource, sel *selection, after uint64) (events, error) {
	at := p.position(r)
	if oldest := max(min(p.st.oldest(), at.version), at.floor, r.since); after < oldest {
		return nil, expiredWatch(&hub.ExpiredError{Requested: after, Oldest: oldest})
	}
	return &lagging{present: p.st.openEvents(r, sel, after), of: p, r: r, at: at}, nil
}

// lagging are the events that a Replica has.
type lagging struct {
	present
	of *Replica
	r  *Resource
	at position
}

func (l *lagging) poll(room []ItemEvent) ([]ItemEvent, error) {
	l.at = l.of.position(l.r)
	if l.at.floor > 0 { // the changes before it will never be sent
		if seen := l.SettledUntil(everything); seen < l.at.floor {
			return nil, expiredWatch(&hub.ExpiredError{Requested: seen, Oldest: l.at.floor})
		}
	}
	return l.pollUntil(l.at.version, room)
}

// settled has no version for a watch that began where the Replica is not yet.
func (l *lagging) settled(at uint64) (uint64, canBookmark) {
	if l.at.version == everything {
		return l.present.settled(at)
	}
	version := l.SettledUntil(l.at.version)
	if version < at {
		return 0, notNow
	}
	return version, canSend
}

func (l *lagging) due() time.Time { return l.of.due(l.at) }

func (l *lagging) wait() {
	select {
	case <-l.Wake():
	case <-l.at.moved:
	case <-l.at.grown:
	}
}
