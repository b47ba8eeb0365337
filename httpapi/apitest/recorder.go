package apitest

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/watch"
)

// recorder records the changes of the store, the writes of clients that made them, and the last version of each object that a client
// has seen.
type recorder struct {
	limit int
	seed  maphash.Seed

	mu sync.Mutex // guards all below; taken with the lock of the store held
	// changes are the last limit changes, or up to twice as many, so that dropping old ones is cheap on average.
	changes []*change
	since   uint64 // the version before the first change
	whole   bool   // there was no change before since
	forks   []fork // in their order
	// seen holds versions by key. When it is full it becomes older, and a new one starts.
	seen, older map[uint64]uint64
	incomplete  bool // a version was dropped
}

// change is a change of the store.
type change struct {
	registry.ObjectChange
	by *write // nil: no request made it
}

func (c *change) compare(version uint64) int { return cmp.Compare(c.Version, version) }

// fork is the moment of a fork. Changes up to version were made before it, by the clock of the parent.
type fork struct {
	version uint64
	// at is the time by the clock of the fork. The parent's clock may show another time,
	// as in a testing/synctest bubble.
	at time.Time
}

// newRecorder returns a recorder of a store that keeps the last limit changes, and at least the last limit
// versions seen. With limit 0 it records nothing.
func newRecorder(st *registry.Store, limit int) *recorder {
	rec := &recorder{limit: limit, seed: maphash.MakeSeed(), seen: map[uint64]uint64{}}
	if limit > 0 {
		st.Observe(rec)
	}
	return rec
}

// fork returns a recorder of a new fork of the store, with the changes up to the fork.
func (rec *recorder) fork(st *registry.Store) *recorder {
	f := newRecorder(st, rec.limit)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	n, _ := slices.BinarySearchFunc(rec.changes, f.since+1, (*change).compare)
	f.forks = append(slices.Clone(rec.forks), fork{f.since, st.Now()})
	f.changes = append(slices.Clip(rec.changes[:n]), f.changes...)
	f.since, f.whole = rec.since, rec.whole
	return f
}

// Begin implements registry.Observer.
func (rec *recorder) Begin(version uint64, empty bool) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.changes, rec.since, rec.whole = nil, version, empty
}

// Changed implements registry.Observer.
func (rec *recorder) Changed(ctx context.Context, c registry.ObjectChange) {
	by, _ := ctx.Value(writeKey{}).(*write)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.changes) >= 2*rec.limit {
		rec.trimLocked()
	}
	made := &change{c, by}
	rec.changes = append(rec.changes, made)
	// Admission may write objects of other resources, such as quotas, in the name of the request.
	if by != nil && by.api.recorder == rec && c.Kind().Info().Plural == by.req.Resource {
		by.made.Store(made)
	}
}

// after returns the changes after a version, the oldest first. complete reports whether none is missing.
func (rec *recorder) after(version uint64) (changes []*change, complete bool) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	first, _ := slices.BinarySearchFunc(rec.changes, version+1, (*change).compare)
	return slices.Clip(rec.changes[first:]), rec.limit > 0 && (version >= rec.since || rec.whole)
}

func (rec *recorder) trimLocked() {
	if n := len(rec.changes) - rec.limit; n > 0 {
		rec.since, rec.whole = rec.changes[n-1].Version, false
		rec.changes = slices.Clone(rec.changes[n:])
	}
}

// write is a request that may change objects.
type write struct {
	api    *API
	req    *Request
	blind  bool                   // it names no resourceVersion
	known  uint64                 // the last version of the object that the client had seen, or 0
	status atomic.Int32           // 0 if the client got no answer
	made   atomic.Pointer[change] // the last change that it made of an object of its resource, or nil
}

// writeKey is the context key of the write that a request is.
type writeKey struct{}

// start records a write before the API gets it. It returns nil for a read.
func (rec *recorder) start(x *exchange) *write {
	r := x.req
	w := &write{api: x.api, req: r}
	switch r.Verb {
	case "get", "list", "watch":
		return nil
	case "update", "patch", "apply":
		w.blind = !x.guarded
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, scope := range [][2]string{{r.Namespace, r.Name}, {r.Namespace, ""}, {"", ""}} {
		w.known = max(w.known, rec.seenLocked(rec.key(r, scope[0], scope[1])))
	}
	return w
}

// saw records versions that the client of a request sees. It must be called before the client
// gets them, so that every reaction of the client comes later.
func (rec *recorder) saw(r *Request, sights []caller.Sight) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, s := range sights {
		if s.Name == "" { // all objects of a list, or up to a bookmark
			if r.isSelective() || r.Verb != "list" && r.Verb != "watch" {
				continue
			}
			s.Namespace = r.Namespace
		}
		key := rec.key(r, s.Namespace, s.Name)
		version := max(s.Version, rec.seenLocked(key))
		if rec.seen[key] == 0 && len(rec.seen) == rec.limit {
			rec.incomplete = rec.incomplete || rec.older != nil
			rec.older, rec.seen = rec.seen, map[uint64]uint64{}
		}
		rec.seen[key] = version
	}
}

func (rec *recorder) seenLocked(key uint64) uint64 { return max(rec.seen[key], rec.older[key]) }

// key returns the hash of a client and an object. The name "" stands for all objects of the namespace.
func (rec *recorder) key(r *Request, namespace, name string) uint64 {
	return maphash.Comparable(rec.seed, [...]string{r.Client, r.UserAgent, r.Group, r.Resource, namespace, name})
}

// String returns the verb, the client and the outcome.
func (w *write) String() string {
	outcome := "no answer"
	if status := w.status.Load(); status != 0 {
		outcome = strconv.Itoa(int(status))
	}
	return w.req.Verb + " of " + w.sender() + ", " + outcome
}

func (w *write) sender() string {
	switch agent, _, _ := strings.Cut(w.req.UserAgent, " "); {
	case w.req.Client != "":
		return fmt.Sprintf("client %q", w.req.Client)
	case agent != "":
		return fmt.Sprintf("%q", agent)
	}
	return "a client"
}

// Change is one change of an object in the store.
type Change struct {
	// Type is ADDED, MODIFIED or DELETED, and Time the time of the change by the clock of the store.
	Type            watch.EventType
	Time            time.Time
	Group, Resource string
	Result
	// Request is the request that made the change, perhaps to the API that was forked. It is nil for a change
	// through the Store. Its Body is kept only as long as Requests returns it.
	Request *Request
}

// Changes returns the changes after a resourceVersion, the oldest first. With "" it returns all since the
// store was made. The error says that since is no number, or that Options.KeepHistory was too small.
// ExpireHistory does not affect it.
func (a *API) Changes(since string) ([]Change, error) {
	var version uint64
	if since != "" {
		var err error
		if version, err = strconv.ParseUint(since, 10, 64); err != nil {
			return nil, problem("apitest.Changes", "got %q, want a resourceVersion", since)
		}
	}
	kept, complete := a.recorder.after(version)
	if !complete {
		return nil, fmt.Errorf("apitest.Changes: the store had more changes than KeepHistory since %q", since)
	}
	changes := make([]Change, len(kept))
	for i, c := range kept {
		info := c.Kind().Info()
		changes[i] = Change{Type: c.Type(), Time: c.At, Group: info.Group, Resource: info.Plural, Result: resultOf(c)}
		if c.by != nil {
			changes[i].Request = c.by.request()
		}
	}
	return changes, nil
}

// resultOf returns the state after a change, which may be nil.
func resultOf(c *change) Result {
	if c == nil {
		return Result{}
	}
	it := c.Newest()
	return Result{it.Namespace(), it.Name(), string(it.UID()), strconv.FormatUint(c.Version, 10)}
}

// request returns a copy of the request of a write, perhaps to the API that was forked.
func (w *write) request() *Request {
	w.api.mu.Lock()
	defer w.api.mu.Unlock()
	return new(w.api.copyLocked(w.req))
}
