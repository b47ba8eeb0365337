package registry

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/internal/intern"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Options configures a Store; package store documents the fields. The zero value is ready for use.
type Options struct {
	History              int           // in changes; zero means DefaultHistory
	HistoryAge           time.Duration // zero means no limit
	HistoryBytes         int64         // zero means DefaultHistoryBytes
	Quota                int64         // in bytes; zero means no limit
	FirstResourceVersion uint64        // zero means DefaultFirstVersion
	Clock                clock.Clock   // nil means clock.Real
	Seed                 uint64        // zero means random
}

// Defaults of Options.
const (
	DefaultHistory      = 4096
	DefaultHistoryBytes = 64 << 20
	DefaultFirstVersion = 1000
)

// Store holds objects of any number of kinds. All methods may be called from any goroutine.
type Store struct {
	now      func() time.Time // the time that objects are stamped with
	clock    clock.Clock      // for timers
	began    time.Time        // no time of this run is before it
	hub      *hub.Hub[change]
	interned *intern.Table
	seed     uint64           // of random values; 0 is random
	drawn    [2]atomic.Uint64 // how many values the seed has given, for objects and for requests
	aging    atomic.Bool      // changes record their time; Observe sets it at any time
	first    uint64           // the version before all changes
	quota    int64            // of bytes, or 0
	source   source
	engine   *engine // nil for a store in memory
	gate     gate    // it is set before the first request
	slow     slow
	dropped  atomic.Uint64 // the version of the last Drop

	// mu guards all below and every tree. While it is held, no function of the user is
	// called, and no object is copied; see the package comment for the order of locks.
	mu        sync.RWMutex
	version   uint64 // of the last change
	bytes     int64  // the sizes of all objects, each with objectOverhead; not on a Backend
	observers []Observer
	resources map[meta.GroupResource]*Resource
	installed int // collections so far, also those that were replaced
	closed    bool
}

// change is the payload of one entry of the history.
type change struct {
	old  *Item // the state before, nil if there was no object
	new  *Item // the state after, nil if the object is gone
	last lastState
}

func (c *change) eventType() watch.EventType {
	switch {
	case c.old == nil:
		return watch.Added
	case c.new == nil:
		return watch.Deleted
	}
	return watch.Modified
}

// newest returns the state after the change, or the state before it if the object is gone.
func (c *change) newest() *Item {
	if c.new == nil {
		return c.old
	}
	return c.new
}

// eventItem returns the object of a change: the state after it, or the last state.
func eventItem(c *hub.Change[change]) *Item {
	if c.Payload.new == nil {
		return c.Payload.last.of(c)
	}
	return c.Payload.new
}

// New returns an empty Store.
func New(opts Options) *Store {
	opts.FirstResourceVersion = cmp.Or(opts.FirstResourceVersion, DefaultFirstVersion)
	return newStore(&opts)
}

// newStore returns an empty Store at FirstResourceVersion. It sets the defaults of the history.
func newStore(opts *Options) *Store {
	if opts.History <= 0 {
		opts.History = DefaultHistory
	}
	if opts.HistoryBytes <= 0 {
		opts.HistoryBytes = DefaultHistoryBytes
	}
	now := time.Now
	if opts.Clock != nil {
		now = opts.Clock.Now
	}
	st := &Store{
		now:       now,
		clock:     clock.Waiting(opts.Clock),
		seed:      opts.Seed,
		interned:  intern.New(),
		hub:       hub.NewHub[change](hub.Limits{Changes: opts.History, Bytes: opts.HistoryBytes, Age: opts.HistoryAge}, opts.FirstResourceVersion),
		version:   opts.FirstResourceVersion,
		first:     opts.FirstResourceVersion,
		quota:     opts.Quota,
		resources: map[meta.GroupResource]*Resource{},
	}
	st.began = earlier(now(), time.Now())
	st.aging.Store(opts.HistoryAge > 0)
	st.drawn[1].Store(requestsFrom)
	st.source, st.gate, st.slow = memory{st}, open{}, newSlow()
	return st
}

// Began returns a time that no clock of this run was before, the clock of the store and the clock of the machine: a fork has the times
// of the store that it was made of too.
func (st *Store) Began() time.Time { return st.began }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Close ends all watches, now and to come, and waits for validations that their requests have left, at most a minute. Objects can still be
// read and written, unless the store is on a Backend. Closing twice is fine.
func (st *Store) Close() {
	st.mu.Lock()
	closed := st.closed
	if !closed {
		st.closed = true
		st.hub.Close()
	}
	st.mu.Unlock()
	if closed {
		return
	}
	if st.engine != nil {
		st.engine.close()
	}
	st.slow.close()
}

// ExpireHistory forgets all changes up to now, as the compaction of a real server does. Watches that have sent all of
// them continue. Watches that lag, and reads at an older version, get 410.
func (st *Store) ExpireHistory() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.hub.Expire()
	for _, r := range st.resources {
		r.snapshots.dropBefore(st.version)
	}
}

// ResourceVersion returns the version of the last change of any kind.
func (st *Store) ResourceVersion() uint64 {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.version
}

// Now returns the time that objects are stamped with.
func (st *Store) Now() time.Time { return st.now() }

// Clock returns the clock for timers: Options.Clock, or clock.Real if Options.Clock has no timers.
func (st *Store) Clock() clock.Clock { return st.clock }

// Watchers returns how many watches are open.
func (st *Store) Watchers() int { return st.hub.Readers() }

// InMemory reports whether the store keeps its objects itself, and not on a Backend.
func (st *Store) InMemory() bool { return st.engine == nil }

// Size returns how many bytes of the quota are in use. It is 0 for a store on a Backend.
func (st *Store) Size() int64 {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.bytes
}

// Resource returns the collection of a kind. It panics if another kind has the same
// group and plural, and if the store is on a Backend and was opened without the kind.
func (st *Store) Resource(d *kinds.Kind) *Resource {
	r, err := st.Find(d)
	if err != nil {
		panic(err.Error())
	}
	return r
}

// ErrClosed ends a watch on a closed store.
var ErrClosed = errors.New("store: closed")

// conflictText is the cause of a conflict between two writers, as upstream words it.
const conflictText = "the object has been modified; please apply your changes to the latest version and try again"

// Fork returns an independent store in the same state: objects, counter, history and Options are the same. Open
// watches and Replicas stay with their store. A clock that is a clock.Forker is forked too. The caller must Close the
// fork. The error is ErrClosed. The fork of a store on a Backend is a store in memory, with the state of the cache.
//
// The cost does not depend on the number of objects: both stores share memory, and a write copies what it changes.
func (st *Store) Fork() (*Store, error) {
	f := &Store{now: st.now, clock: st.clock, seed: st.seed, first: st.first, quota: st.quota}
	if c, ok := st.clock.(clock.Forker); ok {
		f.clock = c.Fork()
		f.now = f.clock.Now
	}
	f.began = earlier(st.began, f.now()) // a bubble begins in the year 2000
	f.source, f.gate, f.slow = memory{f}, open{}, newSlow()
	if err := st.engine.checkLoaded(); err != nil {
		return nil, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return nil, fmt.Errorf("store.Fork: got a store that was closed, want one that is open: %w", ErrClosed)
	}
	f.aging.Store(st.aging.Load())
	f.dropped.Store(st.dropped.Load())
	for i := range f.drawn {
		f.drawn[i].Store(st.drawn[i].Load())
	}
	f.version, f.bytes, f.hub = st.version, st.bytes, st.hub.Fork()
	f.interned = st.interned
	f.resources = make(map[meta.GroupResource]*Resource, len(st.resources))
	all := make([]struct {
		Resource
		collection
	}, len(st.resources))
	f.installed = st.installed
	for gr, r := range st.resources {
		next := &all[len(f.resources)]
		next.collection.forkLocked(f, r.collection)
		next.Resource = Resource{r.Kind, &next.collection}
		f.resources[gr] = &next.Resource
	}
	return f, nil
}

// forkLocked makes an empty collection a fork of parent.
func (r *collection) forkLocked(st *Store, parent *collection) {
	r.st, r.id, r.account = st, parent.id, &account{limit: maxRemembered}
	r.since, r.until = parent.since, parent.until
	r.retired.Store(parent.retired.Load())
	r.terminating.Store(parent.terminating.Load())
	r.tree = parent.tree.Clone()
	r.snapshots.kept = parent.snapshots.all()
}
