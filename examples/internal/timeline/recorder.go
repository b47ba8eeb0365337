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
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// Options bounds what a Recorder remembers beside what is in the store now: its
// present leaders, gaps and candidates. The zero value has the defaults.
type Options struct {
	// PerLease is how many spans, gaps, marks and past offers are kept of one
	// lease. Zero means 2000.
	PerLease int
	// Total is how many are kept in all. Zero means 20000.
	Total int
}

// Recorder remembers what happens in elections; see the package comment. Use it
// from any number of goroutines.
type Recorder struct {
	st         *registry.Store
	leases     *store.Collection[lease.Lease]
	candidates *store.Collection[candidate.LeaseCandidate]
	opts       Options
	from       time.Time        // by the store's clock
	tick       func() time.Time // of the clock that waiting goes by, which does not jump
	started    time.Time        // the same moment by that

	mu      sync.Mutex // guards all below
	entries map[place]*entry
	homes   map[place]home // by namespace and name of a candidate
	finding bool           // what is seen now was there before
	changed chan struct{}  // closed at the next change

	queue     []*entry // whose records came in which order, stale ones included
	kept      int      // records of all entries
	forgotten int
}

// place is a namespace and a name in it.
type place struct{ namespace, name string }

// home is where a candidate belongs, and the version that was seen of it.
type home struct {
	*entry
	version uint64
}

// NewRecorder returns a Recorder that has seen nothing yet: give its Log to an
// Elector, and call Run.
func NewRecorder(st *store.Store, opts Options) *Recorder {
	if opts.PerLease <= 0 {
		opts.PerLease = 2000
	}
	if opts.Total <= 0 {
		opts.Total = 20000
	}
	reg := (*registry.Store)(st)
	return &Recorder{
		st: reg, leases: lease.In(st), candidates: candidate.In(st), opts: opts,
		from: reg.Now().UTC().Round(0), tick: st.Clock().Now, started: st.Clock().Now(),
		entries: map[place]*entry{}, homes: map[place]home{}, changed: make(chan struct{}),
	}
}

// now returns the time that things are stamped with.
func (r *Recorder) now() time.Time { return r.from.Add(r.tick().Sub(r.started)) }

// Log takes in an event: it is for candidate.ElectorOptions. It does not wait.
func (r *Recorder) Log(ev candidate.ElectionEvent) {
	m := Mark{Type: markType(ev.Type), Candidate: bounded(ev.Candidate)}
	if ev.Err != nil {
		m.Text = bounded(ev.Err.Error())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(place{ev.Namespace, ev.Lease})
	if e.offers[ev.Candidate] == nil && ev.Candidate != "" {
		// The watch is about to tell of it; it was there before the event.
		if c, err := r.candidates.Get(context.Background(), ev.Namespace, ev.Candidate); err == nil {
			r.seeCandidate(c)
		}
	}
	m.Time = r.now()
	r.keep(e, m)
	r.notifyLocked()
}

func markType(t candidate.ElectionEventType) MarkType {
	switch t {
	case candidate.Pinged:
		return Pinged
	case candidate.Answered:
		return Answered
	case candidate.Elected:
		return Elect
	case candidate.Preferred:
		return Prefer
	case candidate.PreferenceCleared:
		return PreferenceCleared
	case candidate.StrategySet:
		return StrategySet
	}
	return MarkType(strings.ToLower(string(t)))
}

// bounded cuts texts to a length that can do no harm: a holderIdentity may be
// as long as a request.
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
// Timeline, then wait. That a lease ran out shows in the next Timeline and is no
// change by itself.
func (r *Recorder) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *Recorder) notifyLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Timeline returns what is remembered at this moment.
func (r *Recorder) Timeline() Timeline {
	t, states := r.states()
	t.Leases = make([]Lease, len(states))
	for i, s := range states {
		t.Leases[i] = s.lease()
	}
	slices.SortFunc(t.Leases, func(a, b Lease) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return t
}

// states returns what goes into a Timeline. It is all that is done with the lock
// held, so that Log does not wait.
func (r *Recorder) states() (t Timeline, states []state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	states = make([]state, 0, len(r.entries))
	for _, e := range r.entries {
		r.lapse(e, now)
		states = append(states, e.state())
	}
	return Timeline{From: r.from, Until: now, Forgotten: r.forgotten}, states
}
