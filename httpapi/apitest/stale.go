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
	// ResourceVersion is where the replica stops, as far back as history reaches. One that the store has not
	// reached yet stands for the present one.
	ResourceVersion string
	// Changes is how many changes the replica lags, counted per kind.
	Changes int
	// Age is how long the replica lags, by the clock of the store.
	Age time.Duration
	// Namespace and Name limit the lag to the objects with them: the others are read as they are now. No
	// API server does so, but a client that reads objects of several servers or caches may see it. Changes, Age
	// and SkipMissed must not be set.
	Namespace, Name string
	// SkipMissed makes the replica catch up with one list instead of each change: its clients
	// never see the states between. Open watches end with an ERROR 410.
	SkipMissed bool
	// EveryRead also serves reads without a resourceVersion from the replica. No API server does
	// so, but a cache in front of one may.
	EveryRead bool
	// NoWatchList makes the replica a server without the feature gate WatchList, which is on by default in Kubernetes 1.32, and from
	// 1.34 on. A watch with initial events is 422, and informers of client-go 0.35 and later then
	// list with resourceVersion "0", so that they see the past when they start.
	NoWatchList bool
}

// Stale serves reads from a replica of the API server whose watch cache lags behind the store. All
// requests of a fault share its replica. With Match.Client one client reads from the replica while
// others see the current state. Remove makes the replica catch up and connects its clients to a
// server that does not lag. The first Stale that a request meets serves it.
//
// As on real servers (upstream: apiserver, storage/cacher), not every read is stale:
//
//   - A get, list or watch with resourceVersion "0", or with one that the replica has reached, reads
//     from the replica. Informers before client-go 0.35 start in this way, also after a restart.
//   - A resourceVersion that the replica has not reached waits for up to three seconds, and then gets
//     504 "Too large resource version". Informers send it after they have seen a newer state.
//   - A watch gets the events and bookmarks up to the state of the replica, the others after Remove.
//   - Without a resourceVersion a read is consistent. The fault does not hit gets. A list waits for
//     three seconds and reads from the store. A watch with initial events, as client-go 0.35 and
//     later open it when they start, waits too and ends with an ERROR 504. client-go then opens it again, for as long as the
//     server lags, and shows nothing: a lagging server with WatchList never takes such informers back
//     in time. NoWatchList does.
//   - Writes go to the store: an update of a stale object gets a conflict.
func Stale(o StaleOptions) Effect {
	return Effect{
		text: o.text(), err: o.check(), on: isRead,
		start: func(f *Fault) (err error) {
			f.lags[&o], err = f.api.newLag(&o, o.ofObjects())
			return err
		},
		act: func(m *meeting) bool {
			if !m.inProgress && !m.stale && m.req.Resource != "" && !o.leaves(m.req) && m.hit() {
				m.readFrom(m.fault, &o)
			}
			return false
		},
	}
}

func isRead(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }

// leaves reports whether a read is consistent and needs nothing of the replica.
func (o *StaleOptions) leaves(r *Request) bool {
	if o.EveryRead || r.Query.Get("resourceVersion") != "" {
		return false
	}
	return r.Verb == "get" || o.ofObjects() && !(r.Verb == "watch" && o.NoWatchList)
}

func (o *StaleOptions) ofObjects() bool { return o.Namespace != "" || o.Name != "" }

func (o *StaleOptions) names(namespace, name string) bool {
	return (o.Namespace == "" || o.Namespace == namespace) && (o.Name == "" || o.Name == name)
}

// HideEvents hides the changes of the objects with a namespace and a name from watches, the open ones too, until Remove;
// "" is any. Then a watch gets one event for each object that is another than before, or none: ADDED, MODIFIED or
// DELETED, as it must be for a client that saw none of the states between. An object that was deleted and created again
// is MODIFIED with another uid, as informers report it when they list after a missed deletion. Reads and the initial
// events of a watch show the current state. A watch gets no bookmarks meanwhile, as these would claim what is hidden. The
// resourceVersion of an event after Remove may be lower than one that came before.
func HideEvents(namespace, name string) Effect {
	o := &StaleOptions{Namespace: namespace, Name: name}
	return Effect{
		text: "hide events of " + objectPath(namespace, name), on: isWatch, inProgress: true,
		start: func(f *Fault) (err error) {
			f.lags[o], err = f.api.newLag(o, true)
			return err
		},
		act: func(m *meeting) bool {
			if m.req.Resource != "" && m.hit() {
				if l := m.lagOf(m.fault, o, true); l != nil {
					m.veils.Add(l.veil)
				}
			}
			return false
		},
	}
}

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
	if o.ofObjects() {
		how += ", only " + objectPath(o.Namespace, o.Name)
	}
	if o.SkipMissed {
		how += ", skip missed"
	}
	if o.EveryRead {
		how += ", every read"
	}
	if o.NoWatchList {
		how += ", no WatchList"
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
	case o.ofObjects() && (o.SkipMissed || o.Changes != 0 || o.Age != 0):
		return problem("Stale.Namespace, Name", "got them with SkipMissed, Changes or Age, want a replica that stops")
	case o.SkipMissed && (o.Changes != 0 || o.Age != 0):
		return problem("Stale.SkipMissed", "got it with Changes or Age, want a replica that stops")
	}
	return cmp.Or(checkNumber("Stale.Changes", o.Changes), checkNumber("Stale.Age", o.Age))
}

// lag is a replica that lags.
type lag struct {
	*registry.Replica
	skipMissed bool
	veil       *registry.Veil // over the objects of StaleOptions.Namespace and Name, or nil
}

// newLag returns a replica. With only it lags with the objects that o names.
func (a *API) newLag(o *StaleOptions, only bool) (*lag, error) {
	opts := registry.ReplicaOptions{Changes: o.Changes, Age: o.Age, EveryRead: o.EveryRead, NoWatchList: o.NoWatchList}
	if only {
		opts.Only = o.names
	}
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
	l := &lag{Replica: replica, skipMissed: o.SkipMissed}
	if only {
		l.veil = replica.Veil()
	}
	return l, nil
}

func (l *lag) end() {
	if l.skipMissed {
		l.Jump()
		return
	}
	l.CatchUp()
	if l.veil != nil {
		l.veil.Lift()
	}
}

// lagOf returns the replica that all requests of a fault share, or one for this request if its effect was chosen. It is nil if the
// store does not record times, or has forgotten the version.
func (x *exchange) lagOf(f *Fault, o *StaleOptions, only bool) *lag {
	if l := f.lags[o]; l != nil {
		return l
	}
	l, _ := x.api.newLag(o, only)
	if l == nil {
		return nil
	}
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	if f.gone { // Remove did not see this replica
		return nil
	}
	if x.lags == nil {
		x.lags = map[*Fault][]*lag{}
	}
	x.lags[f] = append(x.lags[f], l)
	return l
}

func (x *exchange) readFrom(f *Fault, o *StaleOptions) {
	l := x.lagOf(f, o, o.ofObjects())
	if l == nil {
		return
	}
	x.stale = true
	x.r = x.r.WithContext(l.Context(x.r.Context()))
	if l.veil != nil && x.veils != nil {
		x.veils.Add(l.veil)
	}
}
