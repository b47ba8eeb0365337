package apitest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// Stale serves reads from a replica of the API server whose watch cache lags behind
// the store. Each Fault has its own replica. With Fault.Client one client reads from
// the replica while others see the current state. Remove makes the replica catch up
// and connects its clients to a server that does not lag.
//
// One of ResourceVersion, Changes and Age says how far the replica lags. With
// none of them it stops at the state of the moment when the fault is activated.
//
// The rules are those of real servers (upstream: apiserver, storage/cacher), so not
// every read is stale:
//
//   - A get, list or watch with resourceVersion "0", or with one that the replica
//     has reached, reads from the replica. Informers start in this way, also after a
//     restart.
//   - A resourceVersion that the replica has not reached waits for up to three
//     seconds, and then gets 504 "Too large resource version". Informers send it
//     after they have seen a newer state.
//   - A watch gets the events and bookmarks up to the state of the replica, and the
//     others after Remove.
//   - Without a resourceVersion a read is consistent. The fault does not hit gets. A
//     list waits for three seconds and reads from the store. A watch with initial
//     events, as client-go 0.35 and later open it, waits too and ends with 504.
//   - Writes go to the store: an update of a stale object gets a conflict.
type Stale struct {
	// ResourceVersion is where the replica stops, as far back as history reaches.
	ResourceVersion string
	// Changes is how many changes the replica lags, counted per kind.
	Changes int
	// Age is how long the replica lags, by the clock of the store.
	Age time.Duration
	// SkipMissed makes the replica catch up with one list instead of each change:
	// its clients never see the states between. Open watches end with an ERROR 410.
	SkipMissed bool
	// EveryRead serves reads without a resourceVersion from the replica as well,
	// including gets. No API server does so, but a cache in front of one may.
	EveryRead bool
}

// describe returns the replica in a few words.
func (s *Stale) describe() string {
	how := "stopped"
	switch {
	case s.ResourceVersion != "":
		how = "at version " + s.ResourceVersion
	case s.Changes != 0:
		how = fmt.Sprint(s.Changes, " changes behind")
	case s.Age != 0:
		how = fmt.Sprint(s.Age, " behind")
	}
	if s.SkipMissed {
		how += ", skip missed"
	}
	if s.EveryRead {
		how += ", every read"
	}
	return "stale (" + how + ")"
}

func (f *Fault) validateStale(ends []string) error {
	switch verb := f.Verb; {
	case len(ends) > 0:
		return problem(ends[0], "got it with Stale, want one or the other: the read has no result")
	case verb != "" && verb != "get" && verb != "list" && verb != "watch":
		return problem("Verb", "got %q with Stale, want get, list, watch or none: writes are never stale", verb)
	}
	if err := f.Stale.validate(); err != nil {
		return fmt.Errorf("Stale.%w", err)
	}
	return nil
}

func (s *Stale) validate() error {
	given := 0
	for _, set := range []bool{s.ResourceVersion != "", s.Changes != 0, s.Age != 0} {
		if set {
			given++
		}
	}
	switch _, err := s.version(); {
	case err != nil:
		return problem("ResourceVersion", "got %q, want a positive number", s.ResourceVersion)
	case s.Changes < 0:
		return problem("Changes", "got %d, want 0 or more", s.Changes)
	case s.Age < 0:
		return problem("Age", "got %v, want 0 or more", s.Age)
	case given > 1:
		return problem("ResourceVersion, Changes, Age", "got %d of them, want one at most", given)
	case s.SkipMissed && (s.Changes != 0 || s.Age != 0):
		return problem("SkipMissed", "got it with Changes or Age, want a replica that stops")
	}
	return nil
}

// version returns ResourceVersion as a number, 0 if it is empty.
func (s *Stale) version() (uint64, error) {
	if s.ResourceVersion == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(s.ResourceVersion, 10, 64)
	if err == nil && v == 0 {
		err = strconv.ErrRange
	}
	return v, err
}

// concerns reports whether the replica serves a request.
func (s *Stale) concerns(r *Request) bool {
	switch {
	case r.Resource == "":
		return false
	case r.Verb == "get":
		return s.EveryRead || r.Query.Get("resourceVersion") != ""
	}
	return r.Verb == "list" || r.Verb == "watch"
}

// newReplica returns the replica of a valid Stale.
func (a *API) newReplica(s *Stale) (*registry.Replica, error) {
	version, _ := s.version()
	opts := registry.ReplicaOptions{Version: version, Changes: s.Changes, Age: s.Age, EveryRead: s.EveryRead}
	replica, err := a.st.NewReplica(opts)
	if err != nil && s.ResourceVersion != "" {
		err = fmt.Errorf("Resource%w", err) // registry names its field Version
	}
	return replica, err
}

// catchUp makes the replica of the fault catch up. For an adversary it does so with every
// replica that still serves a watch.
func (in *Injected) catchUp() {
	if in.replica != nil && in.fault.Stale.SkipMissed {
		in.replica.Jump()
		return
	}
	replicas := []*registry.Replica{in.replica}
	in.api.mu.Lock()
	for x := range in.api.open {
		if x.stale == in {
			replicas = append(replicas, x.replica)
		}
	}
	in.api.mu.Unlock()
	for _, replica := range replicas {
		if replica != nil {
			replica.CatchUp()
		}
	}
}

// readFrom serves a request from the replica of a fault. An adversary has a replica
// for each request. The first fault that a request meets decides.
func (x *exchange) readFrom(in *Injected, s *Stale) {
	replica := in.replica
	if replica == nil {
		replica, _ = x.api.newReplica(s) // an error if the store does not know times
	}
	if replica == nil {
		return
	}
	x.api.mu.Lock()
	late := in.gone && in.replica == nil // Remove did not see this replica
	if x.stale == nil {
		x.stale, x.replica = in, replica
		x.r = x.r.WithContext(replica.Context(caller.WithStale(x.r.Context())))
	}
	x.api.mu.Unlock()
	if late {
		replica.CatchUp()
	}
}
