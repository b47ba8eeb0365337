package store

import (
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/clock"
)

// Options configures a Store. The zero value is ready for use.
type Options struct {
	// History is how many changes are kept for watches and for lists at an older
	// resourceVersion. Zero means 4096.
	History int
	// HistoryAge also drops changes that are older. Zero means no limit.
	HistoryAge time.Duration
	// FirstResourceVersion is where the counter of resourceVersions starts. Zero
	// means 1000: lower ones count as history that is gone, as on any cluster
	// that has lived.
	FirstResourceVersion uint64
	// Clock gives timestamps and timers, to the packages above too. Nil means
	// clock.Real, which is also right inside a testing/synctest bubble.
	Clock clock.Clock
	// Seed, if not 0, replaces what is random: uids, generated names, default
	// timeouts of watches, and the Audit-Id of answers. With a clock that is moved
	// by hand the same sequence of writes and requests then gives the same state
	// and the same answers, byte for byte.
	//
	// A uid follows from kind, namespace, name, and the uid of the object that had
	// the name before. A generated name follows from kind, namespace, prefix, and
	// how many names were generated from it. So concurrent writers of different
	// objects do not affect each other. The store remembers about 150 bytes for
	// each name that was given and is free again.
	Seed uint64
}

// Store holds objects of any number of kinds. All methods may be called from any
// goroutine.
type Store registry.Store

// New returns an empty Store.
func New(opts Options) *Store {
	return (*Store)(registry.New(registry.Options{
		History: opts.History, HistoryAge: opts.HistoryAge, FirstVersion: opts.FirstResourceVersion,
		Clock: opts.Clock, Seed: opts.Seed,
	}))
}

func (st *Store) registry() *registry.Store { return (*registry.Store)(st) }

// Close ends all watches, now and to come. Objects can still be read and written.
// Closing twice is fine.
func (st *Store) Close() { st.registry().Close() }

// Fork returns a store that begins in the same state, history and Options
// included, and is independent from then on. Open watches stay with their store.
// A clock that is moved by hand is forked too (see clock.Forker). The caller must
// Close the fork.
//
// A fork takes microseconds however many objects there are: both stores share
// what they have in common, and a write copies what it changes. Fork may be
// called at any time. The error is ErrClosed if the store was closed.
func (st *Store) Fork() (*Store, error) {
	f, err := st.registry().Fork()
	return (*Store)(f), err
}

// ExpireHistory forgets all changes up to now, as the compaction of a real server
// does. Watches that have seen them all go on. Watches that lag, and reads at an
// older resourceVersion, get ErrExpired.
func (st *Store) ExpireHistory() { st.registry().ExpireHistory() }

// ResourceVersion returns the resourceVersion of the last change of any kind.
func (st *Store) ResourceVersion() string {
	return strconv.FormatUint(st.registry().ResourceVersion(), 10)
}

// Clock returns the clock that timers of the store's users should go by.
func (st *Store) Clock() clock.Clock { return st.registry().Clock() }

// Watchers returns how many watches are open.
func (st *Store) Watchers() int { return st.registry().Watchers() }
