package store

import (
	"context"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Options configures a Store. The zero value is ready for use.
type Options struct {
	// History is the number of changes kept for watches and for lists at an older resourceVersion. Zero means 4096.
	History int
	// HistoryAge drops older changes from the history. Zero means no limit.
	HistoryAge time.Duration
	// HistoryBytes limits the bytes of the history; older changes are dropped. A change counts like its object in
	// Quota. Zero means 64 MiB.
	HistoryBytes int64
	// Quota bounds the bytes of all objects. An object counts with the bytes that a real server stores, and one KiB
	// for its place in memory. A write that would add bytes to a full store fails with the text of etcd's quota: 500,
	// "etcdserver: mvcc: database space exceeded". Reads, deletions and writes that add nothing succeed. Zero means
	// no limit.
	Quota int64
	// FirstResourceVersion is where the counter starts: the first change has the next resourceVersion. Zero means
	// 1000. Reads at a lower resourceVersion get ErrExpired.
	FirstResourceVersion uint64
	// Clock is for the timestamps and timers of the store and of the packages that use it. Nil means clock.Real,
	// which also works inside a testing/synctest bubble.
	Clock clock.Clock
	// Seed, if not 0, makes all random values repeatable: uids, generated names, and in package httpapi default
	// timeouts of watches and the header Audit-Id. With a clock.Manual, the same sequence of requests gives the same
	// answers, byte for byte.
	//
	// Each value follows from the seed and a counter, so concurrent writers may get each other's values. A fork goes on
	// as its parent would.
	Seed uint64
}

// Store holds objects of any number of kinds. All methods may be called from any goroutine.
type Store registry.Store

// New returns an empty Store.
func New(opts Options) *Store { return (*Store)(registry.New(registry.Options(opts))) }

// registry returns what the Store is.
func (st *Store) registry() *registry.Store { return (*registry.Store)(st) }

// SetClaims makes the writes of objects take what these need beside themselves. It must be called before the first such write; a fork has
// Claims of its own.
func (st *Store) SetClaims(c admission.Claims) { st.registry().SetClaims(c) }

// Close ends all watches, open and new, with ErrClosed. Objects can still be read and written, unless they are kept
// by a Backend: then these calls get ErrClosed too. Close may be called more than once.
func (st *Store) Close() { st.registry().Close() }

// Fork returns an independent store in the same state, with the same history and Options. Open watches stay with
// their store. A clock that is a clock.Forker is forked too. The caller must Close the fork. The error is ErrClosed.
// The fork of a store on a Backend is in memory.
//
// A fork takes microseconds, whatever the number of objects: both stores share memory, and a write copies what it
// changes. So many tests can start from one expensive state.
func (st *Store) Fork() (*Store, error) {
	f, err := st.registry().Fork()
	if err != nil {
		return nil, err
	}
	return (*Store)(f), nil
}

// ExpireHistory drops the history, as the compaction of a real server does. Watches that have not seen all changes,
// and reads at an older resourceVersion, get ErrExpired.
func (st *Store) ExpireHistory() { st.registry().ExpireHistory() }

// ResourceVersion returns the resourceVersion of the last change of any kind.
func (st *Store) ResourceVersion() string {
	return strconv.FormatUint(st.registry().ResourceVersion(), 10)
}

// Clock returns Options.Clock, or clock.Real if that is nil or a clock.Func.
func (st *Store) Clock() clock.Clock { return st.registry().Clock() }

// Now returns the time of the store, as timestamps have it.
func (st *Store) Now() time.Time { return st.registry().Now() }

// CheckContact returns why watches over HTTP cannot begin: a store on etcd has had no contact to it for a while. It is nil for a store in
// memory.
func (st *Store) CheckContact() error { return st.registry().CheckContact() }

// Advance raises the resourceVersion to version, if it is lower: the next change has a greater one. So a store that
// was loaded from a dump never repeats the resourceVersion of a change after the dump. It is an error for a store on
// a Backend, which counts itself.
func (st *Store) Advance(version uint64) error { return st.registry().Restore(nil, version) }

// Len returns how many objects of a kind the store has. It is 0 for a kind that the store does not have, such as one that
// another has replaced.
func (st *Store) Len(kind kind.Kind) int { return st.registry().Len(kinds.Of(kind)) }

// Change is one change in the history of a store.
type Change struct {
	Type watch.EventType
	// Time is when the change took place by the store's clock. It is zero unless Options.HistoryAge is set.
	Time time.Time
	// Namespace, Name and ResourceVersion are taken from Object's metadata.
	Namespace, Name string
	ResourceVersion uint64
	// Object is a copy of the state after the change, or of the last state of a deleted object: a *T of the kind.
	Object any
}

// History returns the changes of a kind that the store still has, the oldest first. complete reports whether none is
// missing. A kind that another has replaced has no history.
func (st *Store) History(kind kind.Kind) (changes []Change, complete bool) {
	r, err := st.registry().Find(kinds.Of(kind))
	if err != nil {
		return nil, false
	}
	past, complete := r.History()
	for i := range past {
		p := &past[i]
		o := p.Newest().Wire()
		m := o.GetObjectMeta()
		m.ResourceVersion = strconv.FormatUint(p.Version, 10)
		changes = append(changes, Change{p.Type(), p.At, m.Namespace, m.Name, p.Version, o})
	}
	return changes, complete
}

// Watchers returns how many watches are open.
func (st *Store) Watchers() int { return st.registry().Watchers() }

// Errors to compare with errors.Is. The errors of a Collection are *meta.StatusError, which have the Status of the
// HTTP API.
const (
	ErrNotFound      = meta.ReasonNotFound
	ErrAlreadyExists = meta.ReasonAlreadyExists
	ErrConflict      = meta.ReasonConflict
	ErrInvalid       = meta.ReasonInvalid
	ErrBadRequest    = meta.ReasonBadRequest
	ErrExpired       = meta.ReasonExpired
	ErrTimeout       = meta.ReasonTimeout
)

// ErrClosed ends a watch on a closed store.
var ErrClosed = registry.ErrClosed

// Open returns a store whose objects a Backend keeps, after it has read the present state. The store has a copy of all
// objects and of the last changes, and follows the Backend until Close. Any number of stores may be on the same data.
//
// The store has the kinds that Open gets: Kind.In panics for any other. Quota, FirstResourceVersion and Seed must be zero,
// and the clock must not be moved by hand: versions and quota belong to the Backend, and its other users know no such seed
// and clock.
//
// The error is the error of ctx if ctx ends first, or else an error of the options or of Backend.Follow.
func Open(ctx context.Context, opts Options, b backend.Backend, all ...kind.Kind) (*Store, error) {
	registered := make([]*kinds.Kind, len(all))
	for i, k := range all {
		registered[i] = kinds.Of(k)
	}
	r, err := registry.Open(registry.Options(opts), b, registered...)
	if err != nil {
		return nil, err
	}
	if err := r.Loaded(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return (*Store)(r), nil
}
