package registry

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/google/btree"
)

// ReplicaOptions says how a Replica lags. One of Version, Changes, Age and
// StopAfter may be given. The zero value stands still at the version that the
// store is at.
type ReplicaOptions struct {
	// Version is where it stands still: one that history reaches back to.
	Version uint64
	// Changes has it follow so many changes behind, those of each kind by
	// themselves.
	Changes int
	// Age has it learn of each change so much later, by the store's clock. The
	// store must know when changes were made: Options.HistoryAge or Record is to
	// be set.
	Age time.Duration
	// StopAfter has it follow at once, up to the first change for which this is
	// true, and stand still there. It is asked for the changes of all kinds that
	// are made from now on, one at a time, in their order, and must not read
	// through the Replica.
	StopAfter func(PastChange) bool
	// EveryRead has reads that must be consistent, those without a
	// resourceVersion, answered like those with "0". That is against the rules:
	// no API server does it, caches in front of one may.
	EveryRead bool
}

// Replica answers reads as an API server does whose watch cache lags behind the
// store (upstream: apiserver, storage/cacher):
//
//   - a get, a list and a watch with resourceVersion "0" see the version that it
//     has come to, however old; so do those that want a state not older than a
//     version, once it has come that far;
//   - a version that it has not come to, be it exact, is waited for, three seconds
//     at the most; then the answer is ErrTimeout, "Too large resource version";
//   - a watch is told of changes, and its bookmarks of versions, as far as it has
//     come, and of the rest when it catches up;
//   - reads without a resourceVersion are true: a get is made of the store itself,
//     and a list too, where the Replica has not caught up after three seconds; a
//     watch that is to start with the state fails then, with ErrTimeout.
//
// Writes are those of the store.
//
// A Replica that stands still keeps its state whatever history forgets; one that
// follows comes at least as far as history reaches back. It holds nothing that
// has to be closed. Its methods may be called from any goroutine.
type Replica struct {
	st    *Store
	opts  ReplicaOptions
	moved chan struct{} // closed when it has caught up

	mu       sync.Mutex             // guards all below; held for StopAfter alone of what calls out; taken before that of the store
	version  uint64                 // how far it has come; with Changes it is not known here
	standing bool                   // still, at version
	kept     map[*Resource]snapshot // the state, while it stands still
	caughtUp bool
	floor    uint64 // watches that are not told up to here are expired
}

// NewReplica returns a Replica of the store. The error names the option and what
// was expected.
func (st *Store) NewReplica(opts ReplicaOptions) (*Replica, error) {
	if err := opts.validate(st); err != nil {
		return nil, err
	}
	p := &Replica{st: st, opts: opts, moved: make(chan struct{})}
	switch {
	case opts.Changes > 0:
	case opts.Age > 0:
		p.version = st.oldest()
	case opts.StopAfter != nil:
		p.version = st.ResourceVersion()
	default:
		if p.version = opts.Version; p.version == 0 {
			p.version = st.ResourceVersion()
		}
		if err := p.standLocked(); err != nil {
			return nil, fmt.Errorf("Version: got %d, want %d or more: history does not reach back further", p.version, st.oldest())
		}
	}
	return p, nil
}

func (o *ReplicaOptions) validate(st *Store) error {
	given := 0
	for _, set := range []bool{o.Version != 0, o.Changes != 0, o.Age != 0, o.StopAfter != nil} {
		if set {
			given++
		}
	}
	st.mu.RLock()
	now, aging := st.version, st.aging
	st.mu.RUnlock()
	switch {
	case given > 1:
		return fmt.Errorf("Version, Changes, Age, StopAfter: got %d of them, want one at most", given)
	case o.Version > now:
		return fmt.Errorf("Version: got %d, want %d at most, the version that the store is at", o.Version, now)
	case o.Changes < 0:
		return fmt.Errorf("Changes: got %d, want 0 or more", o.Changes)
	case o.Age < 0:
		return fmt.Errorf("Age: got %v, want 0 or more", o.Age)
	case o.Age > 0 && !aging:
		return fmt.Errorf("Age: got %v, want 0 where neither Options.HistoryAge nor Record is set: the store does not know when changes were made", o.Age)
	}
	return nil
}

func (st *Store) oldest() uint64 { return st.hub.Oldest(st.now()) }

// Context returns a context under which reads are answered by the Replica.
func (p *Replica) Context(parent context.Context) context.Context {
	return context.WithValue(parent, replicaKey{}, p)
}

// replicaKey is where the Replica is in a context.
type replicaKey struct{}

// replicaOf returns the Replica of the store that is in a context, or nil.
func (st *Store) replicaOf(ctx context.Context) *Replica {
	if p, ok := ctx.Value(replicaKey{}).(*Replica); ok && p.st == st {
		return p
	}
	return nil
}

// Version returns how far the Replica has come with a kind.
func (p *Replica) Version(r *Resource) uint64 {
	if at := p.position(r); at.version != everything {
		return at.version
	}
	return p.st.ResourceVersion()
}

// CatchUp has the Replica read all that it is missing: watches are told of every
// change. From then on it follows at once.
func (p *Replica) CatchUp() { p.catchUp(0) }

// Jump has the Replica start afresh from a list, as one does whose own watch has
// expired: what it has not seen up to now nobody will be told of. Open watches
// end with ErrExpired, and so do those to come that start before; a real server
// ends open ones without a word, and tells those that come back. From then on it
// follows at once.
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

// position is how far a Replica has come with a kind.
type position struct {
	version uint64
	floor   uint64
	moved   <-chan struct{} // closed when it catches up; nil where it has
	grown   <-chan struct{} // closed when there is more to follow; nil where it does not
	next    time.Time       // by the store's clock, when it will come further; zero where that is not known
}

// everything is the position of a Replica that has caught up.
const everything = math.MaxUint64

// position returns how far the Replica has come with a kind.
func (p *Replica) position(r *Resource) position {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.caughtUp {
		return position{version: everything, floor: p.floor}
	}
	at := position{moved: p.moved}
	if !p.standing {
		var head uint64
		head, at.grown = p.st.hub.Head()
		switch {
		case p.opts.Changes > 0:
			at.version = p.st.changesBefore(r, head, p.opts.Changes)
			return at
		case p.opts.Age > 0:
			at.next = p.ageLocked(head)
		default:
			p.followLocked(head)
		}
	}
	at.version = p.version
	return at
}

// changesBefore returns the version that is n changes of a kind before another,
// or the oldest one there is.
func (st *Store) changesBefore(r *Resource, version uint64, n int) uint64 {
	for oldest := st.oldest(); n > 0 && version > oldest; version-- {
		c := st.hub.Get(version)
		if c == nil {
			break
		}
		if c.Collection == r.id {
			n--
		}
	}
	return version
}

// ageLocked lets in the changes that are old enough, and returns when the next
// one will be.
func (p *Replica) ageLocked(head uint64) (next time.Time) {
	now := p.st.now()
	p.version = max(p.version, p.st.oldest())
	for p.version < head {
		c := p.st.hub.Get(p.version + 1)
		if c == nil {
			p.version = max(p.version+1, p.st.oldest()) // it is lost by now
			continue
		}
		if next = c.At.Add(p.opts.Age); next.After(now) {
			return next
		}
		p.version = c.Version
	}
	return time.Time{}
}

// followLocked goes on to the change after which the Replica is to stop.
func (p *Replica) followLocked(head uint64) {
	for p.version < head {
		c := p.st.hub.Get(p.version + 1)
		if c == nil {
			p.version = max(p.version+1, p.st.oldest()) // it is lost by now
			continue
		}
		p.version = c.Version
		if c.Payload.new != nil && p.opts.StopAfter(PastChange{c.Payload.eventType, c.Payload.new, c.At}) {
			// Where history has just been lost, at answers for it.
			p.standLocked()
			return
		}
	}
}

// standLocked makes the Replica stand still where it is.
func (p *Replica) standLocked() error {
	p.standing = true
	kept := map[*Resource]snapshot{}
	for _, r := range p.st.all() {
		s, err := r.at(p.version)
		if err != nil {
			return err
		}
		kept[r] = s
	}
	p.kept = kept
	return nil
}

// all returns the collections there are.
func (st *Store) all() (all []*Resource) {
	st.mu.RLock()
	defer st.mu.RUnlock()
	for _, r := range st.resources {
		all = append(all, r)
	}
	return all
}

// at returns the state of a kind at a version, however old if it is the one where
// the Replica stands still.
func (p *Replica) at(r *Resource, version uint64) (snapshot, error) {
	p.mu.Lock()
	kept, known := p.kept[r]
	stands := p.kept != nil && p.version == version
	p.mu.Unlock()
	switch {
	case stands && known:
		return kept, nil
	case stands && version < p.st.oldest():
		// The kind was not there when the Replica came to stand.
		return snapshot{btree.NewG(treeDegree, entryLess), version}, nil
	}
	return r.at(version)
}

// state returns the state that the Replica has of a kind.
func (p *Replica) state(r *Resource) (snapshot, error) {
	for {
		at := p.position(r)
		if at.version == everything {
			return r.snapshot(), nil
		}
		s, err := p.at(r, at.version)
		if err == nil || at.grown == nil {
			return s, err
		}
		// History was lost meanwhile, and so it has come further.
	}
}
