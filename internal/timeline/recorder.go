package timeline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Recorder records elections; see the package comment. Any number of goroutines may use
// it.
type Recorder struct {
	st         *store.Store
	stamp      func() time.Time // the store's clock, which may jump
	leases     *store.Collection[lease.Lease]
	candidates *store.Collection[candidate.LeaseCandidate]
	from       time.Time        // by the store's clock
	tick       func() time.Time // Store.Clock, which does not jump
	started    time.Time        // the same moment as from, by tick

	mu      sync.Mutex // guards all below
	entries map[namespacedName]*entry
	homes   map[namespacedName]home // by namespace and name of a candidate
	start   uint64                  // version of the store when recording began
	first   [2]uint64               // versions of the Lease and of the candidate that were written last before that, or a little later
	changed chan struct{}           // closed at the next change
	seen    [2]uint64               // versions of the last Lease and of the last candidate that Run has got
	next    chan struct{}           // closed when Run gets another one

	records   []kept // of all entries, the oldest first
	most      int    // limits records
	forgotten int
}

// namespacedName is the name of a Lease or of a candidate.
type namespacedName struct{ namespace, name string }

// home is the entry of a candidate's Lease, and the last version of the candidate.
type home struct {
	*entry
	version uint64
}

// NewRecorder returns a Recorder, whose recording begins now. Give its Log to a Coordinator, and call Run.
func NewRecorder(st *store.Store) *Recorder {
	stamp := st.Clock().Now
	r := &Recorder{
		start: number(st.ResourceVersion()),
		st:    st, stamp: stamp, leases: lease.In(st), candidates: candidate.In(st), most: maxRecords,
		from: stamp().UTC().Round(0), tick: st.Clock().Now, started: st.Clock().Now(),
		entries: map[namespacedName]*entry{}, homes: map[namespacedName]home{}, changed: make(chan struct{}), next: make(chan struct{}),
	}
	r.first[0] = latest(r.leases, func(l *lease.Lease) string { return l.ResourceVersion })
	r.first[1] = latest(r.candidates, func(c *candidate.LeaseCandidate) string { return c.ResourceVersion })
	return r
}

// now returns the time by tick, counted from from.
func (r *Recorder) now() time.Time { return r.from.Add(r.tick().Sub(r.started)) }

// Log records an event. It is for candidate.CoordinatorOptions and does not block.
func (r *Recorder) Log(ev candidate.ElectionEvent) {
	m := Mark{Type: ev.Type, Candidate: bounded(ev.Candidate)}
	if ev.Err != nil {
		m.Text = bounded(ev.Err.Error())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(namespacedName{ev.Namespace, ev.Lease})
	if e.offers[ev.Candidate] == nil && ev.Candidate != "" {
		// The candidate came before the event, but the watch may be later.
		if c, err := r.candidates.Get(context.Background(), ev.Namespace, ev.Candidate); err == nil {
			r.seeCandidate(c)
		}
	}
	m.Time = r.now()
	r.keep(e, m)
	r.notifyLocked()
}

// bounded limits the length of a text: a holderIdentity may be as long as a request.
func bounded(s string) string {
	const most = 512
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// Changed returns a channel that is closed at the next change: get it, take a
// Timeline, then wait. The expiry of a Lease does not count as a change.
func (r *Recorder) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *Recorder) notifyLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Await returns when Run has recorded all that is in the store now, or when ctx ends. Call it before a clock is moved by
// hand: then each change is recorded at its own time.
func (r *Recorder) Await(ctx context.Context) {
	for i, kind := range []kind.Kind{lease.Kind(), candidate.Kind()} {
		changes, _ := r.st.History(kind)
		if len(changes) == 0 {
			continue
		}
		for !r.has(ctx, i, changes[len(changes)-1].ResourceVersion) {
		}
	}
}

// has reports whether Run has got a version of Leases, if i is 0, or of candidates. If not, it waits until it has got another one. It
// reports true when ctx has ended.
func (r *Recorder) has(ctx context.Context, i int, version uint64) bool {
	r.mu.Lock()
	got, start, first, next := r.seen[i], r.start, r.first[i], r.next
	r.mu.Unlock()
	if version <= got || version <= start && first <= got { // what was deleted before start is never seen
		return true
	}
	select {
	case <-next:
		return false
	case <-ctx.Done():
		return true
	}
}

// gotLocked notes that Run has got a version.
func (r *Recorder) gotLocked(i int, resourceVersion string) {
	r.seen[i] = max(r.seen[i], number(resourceVersion))
	r.wakeLocked()
}

// wakeLocked wakes the goroutines that wait in has.
func (r *Recorder) wakeLocked() {
	close(r.next)
	r.next = make(chan struct{})
}

// Timeline returns all current records.
func (r *Recorder) Timeline() Timeline {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for _, e := range r.entries {
		r.lapse(e, now)
	}
	t := Timeline{From: r.from, Until: now, Forgotten: r.forgotten, Leases: make([]Lease, 0, len(r.entries))}
	records := make(map[*entry][]any, len(r.entries))
	for _, k := range r.records {
		records[k.e] = append(records[k.e], k.rec)
	}
	for _, e := range r.entries {
		t.Leases = append(t.Leases, e.lease(records[e]))
	}
	slices.SortFunc(t.Leases, func(a, b Lease) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return t
}
