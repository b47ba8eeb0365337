package registry

import (
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Options says how a Store works. The zero value is ready for use.
type Options struct {
	// History is how many changes are kept for watches and for lists at an
	// older version. Zero means DefaultHistory.
	History int
	// HistoryAge also drops changes that are older. Zero means no limit.
	HistoryAge time.Duration
	// FirstVersion is where the resourceVersion counter starts. Zero means
	// DefaultFirstVersion: versions below it are history that is gone, as on
	// any cluster that has lived.
	FirstVersion uint64
	// Clock is what timestamps are taken from, and what all waiting goes by,
	// that of the packages above too. Nil means clock.Real, which is right inside
	// a testing/synctest bubble as well; see package clock for others.
	Clock clock.Clock
	// Seed, if not 0, makes what is random otherwise a function of it: uids,
	// generated names, when a watch ends that does not say, and the Audit-Id of
	// answers. With a Clock that is a clock.Manual, or stands still, the same
	// sequence of writes and requests leads to the same state and the same
	// answers, byte for byte.
	//
	// A uid follows from the kind, the namespace, the name, and the uid of the
	// object that had the name before; a generated name from the kind, the
	// namespace, the prefix, and how many were made of it; an Audit-Id from the
	// method and the URI, and how many such requests there were. So writers at
	// once do no harm to what is another's. Which of two that want names of one
	// prefix gets which, who conflicts with whom, and resourceVersions, all
	// depend on who comes first, as they do without a Seed. A dry run has the
	// uid and the name of the create that it tries.
	//
	// What names were given to and are free again takes memory: about 150 bytes
	// for each.
	Seed uint64
}

// Defaults of Options.
const (
	DefaultHistory      = 4096
	DefaultFirstVersion = 1000
)

// Store holds objects of any number of kinds. All methods may be called from
// any goroutine.
type Store struct {
	now    func() time.Time
	clock  clock.Clock // to wait by
	hub    *hub.Hub[change]
	shares shareTable
	seed   uint64 // what is made up follows from it; 0 is random
	aging  bool   // changes remember when they were made
	first  uint64 // the version before all changes

	mu        sync.RWMutex // guards all below and every tree; taken before the hub's
	version   uint64       // of the last change
	record    record
	resources map[meta.GroupResource]*Resource // numbered by their id, from 0
	closed    bool
}

// change is what history remembers of one write.
type change struct {
	eventType watch.EventType
	old       *Item // the state before; nil for Added
	new       *Item // the state after; for Deleted the last one under the deletion's version
	left      leftItem
	origin    uint64 // of the request that made it, or 0
}

// New returns an empty Store.
func New(opts Options) *Store {
	if opts.History <= 0 {
		opts.History = DefaultHistory
	}
	if opts.FirstVersion == 0 {
		opts.FirstVersion = DefaultFirstVersion
	}
	now := time.Now
	if opts.Clock != nil {
		now = opts.Clock.Now
	}
	return &Store{
		now:       now,
		clock:     clock.Waiting(opts.Clock),
		seed:      opts.Seed,
		aging:     opts.HistoryAge > 0,
		shares:    shareTable{seed: maphash.MakeSeed()},
		hub:       hub.NewHub[change](opts.History, opts.HistoryAge, opts.FirstVersion),
		version:   opts.FirstVersion,
		first:     opts.FirstVersion,
		record:    record{since: opts.FirstVersion},
		resources: map[meta.GroupResource]*Resource{},
	}
}

// Close ends all watches, now and to come. Objects can still be read and
// written. Closing twice is fine.
func (st *Store) Close() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.closed {
		st.closed = true
		st.hub.Close()
	}
}

// ExpireHistory forgets all changes up to now, as the compaction of a real
// server does. Watches that have been told of all of them go on. Those that lag,
// and watches, lists and continue tokens that ask for an older version later,
// are answered 410.
func (st *Store) ExpireHistory() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.hub.Expire()
	for _, r := range st.resources {
		r.past.dropBefore(st.version)
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

// Clock returns the clock to wait by: that of Options, or clock.Real where that
// is for timestamps alone.
func (st *Store) Clock() clock.Clock { return st.clock }

// Watchers returns how many watches are open.
func (st *Store) Watchers() int { return st.hub.Watchers() }

// Resource returns the collection of a kind, which is empty the first time.
// It panics where another kind has taken the same group and plural.
func (st *Store) Resource(d *Kind) *Resource {
	st.mu.Lock()
	defer st.mu.Unlock()
	r := st.resources[d.groupResource()]
	if r == nil {
		r = &Resource{st: st, kind: d, id: len(st.resources), tree: btree.NewG(treeDegree, entryLess), hot: hotTable{seed: maphash.MakeSeed()}}
		st.resources[d.groupResource()] = r
	}
	if r.kind != d {
		panic(fmt.Sprintf("store: two kinds for %s", d.groupResource()))
	}
	return r
}
