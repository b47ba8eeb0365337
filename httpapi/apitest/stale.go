package apitest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// StaleOptions configures Stale. One of ResourceVersion, Changes and Age is how far the replica lags.
// With none of them it stops when the fault is activated.
type StaleOptions struct {
	// ResourceVersion is where the replica stops, as far back as history reaches.
	ResourceVersion string
	// Changes is how many changes the replica lags, counted per kind.
	Changes int
	// Age is how long the replica lags, by the clock of the store.
	Age time.Duration
	// SkipMissed makes the replica catch up with one list instead of each change: its clients
	// never see the states between. Open watches end with an ERROR 410.
	SkipMissed bool
	// EveryRead also serves reads without a resourceVersion from the replica. No API server does
	// so, but a cache in front of one may.
	EveryRead bool
}

// Stale serves reads from a replica of the API server whose watch cache lags behind the store. All
// requests of a fault share its replica. With Match.Client one client reads from the replica while
// others see the current state. Remove makes the replica catch up and connects its clients to a
// server that does not lag. The first Stale that a request meets serves it.
//
// As on real servers (upstream: apiserver, storage/cacher), not every read is stale:
//
//   - A get, list or watch with resourceVersion "0", or with one that the replica has reached, reads
//     from the replica. Informers start in this way, also after a restart.
//   - A resourceVersion that the replica has not reached waits for up to three seconds, and then gets
//     504 "Too large resource version". Informers send it after they have seen a newer state.
//   - A watch gets the events and bookmarks up to the state of the replica, the others after Remove.
//   - Without a resourceVersion a read is consistent. The fault does not hit gets. A list waits for
//     three seconds and reads from the store. A watch with initial events, as client-go 0.35 and
//     later open it, waits too and ends with 504.
//   - Writes go to the store: an update of a stale object gets a conflict.
func Stale(o StaleOptions) Effect {
	return Effect{
		text: o.text(), err: o.check(), on: isRead,
		start: func(f *Fault) (err error) {
			f.lag, err = f.api.newLag(o)
			return err
		},
		act: func(m *meeting) bool {
			consistent := m.req.Verb == "get" && m.req.Query.Get("resourceVersion") == "" && !o.EveryRead
			if !m.inProgress && m.stale == nil && m.req.Resource != "" && !consistent && m.hit() {
				m.readFrom(m.fault, o)
			}
			return false
		},
	}
}

func isRead(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }

// text describes the replica in a few words.
func (o *StaleOptions) text() string {
	how := "stopped"
	switch {
	case o.ResourceVersion != "":
		how = "at version " + o.ResourceVersion
	case o.Changes != 0:
		how = fmt.Sprint(o.Changes, " changes behind")
	case o.Age != 0:
		how = fmt.Sprint(o.Age, " behind")
	}
	if o.SkipMissed {
		how += ", skip missed"
	}
	if o.EveryRead {
		how += ", every read"
	}
	return "stale (" + how + ")"
}

func (o *StaleOptions) check() error {
	given := 0
	for _, set := range []bool{o.ResourceVersion != "", o.Changes != 0, o.Age != 0} {
		if set {
			given++
		}
	}
	switch {
	case given > 1:
		return problem("Stale.ResourceVersion, Changes, Age", "got %d of them, want one at most", given)
	case o.SkipMissed && (o.Changes != 0 || o.Age != 0):
		return problem("Stale.SkipMissed", "got it with Changes or Age, want a replica that stops")
	}
	return cmp.Or(checkNumber("Stale.Changes", o.Changes), checkNumber("Stale.Age", o.Age))
}

// lag is a replica that lags.
type lag struct {
	*registry.Replica
	skipMissed bool
}

func (a *API) newLag(o StaleOptions) (*lag, error) {
	opts := registry.ReplicaOptions{Changes: o.Changes, Age: o.Age, EveryRead: o.EveryRead}
	if o.ResourceVersion != "" {
		var err error
		if opts.Version, err = strconv.ParseUint(o.ResourceVersion, 10, 64); err != nil || opts.Version == 0 {
			return nil, problem("Stale.ResourceVersion", "got %q, want a positive number", o.ResourceVersion)
		}
	}
	replica, err := a.st.NewReplica(opts)
	if err != nil {
		return nil, fmt.Errorf("Stale.%s", strings.Replace(err.Error(), "Version:", "ResourceVersion:", 1))
	}
	return &lag{replica, o.SkipMissed}, nil
}

// end makes the replica catch up. l may be nil.
func (l *lag) end() {
	switch {
	case l == nil:
	case l.skipMissed:
		l.Jump()
	default:
		l.CatchUp()
	}
}

// readFrom serves a request from the replica of a fault, or from one of its own if the effect was
// chosen.
func (x *exchange) readFrom(f *Fault, o StaleOptions) {
	l := f.lag
	if l == nil {
		if l, _ = x.api.newLag(o); l == nil {
			return // the store does not record times, or has forgotten the version
		}
	}
	x.api.mu.Lock()
	late := f.gone && f.lag == nil // Remove did not see this replica
	if x.stale == nil {
		x.stale, x.lag = f, l
		x.r = x.r.WithContext(l.Context(x.r.Context()))
	}
	x.api.mu.Unlock()
	if late {
		l.end()
	}
}
