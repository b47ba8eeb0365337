package apitest

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Stale has reads answered by a replica of the API server whose watch cache lags
// behind what is stored. One fault is one replica; with Client in the Fault, one
// client is connected to it while others see the truth. Where the replica stands
// is said by one of Version, Changes, Age and After; without them it stands still
// at what is there when the fault is put in place. Remove has it catch up, and
// connects clients to a server that does not lag.
//
// The rules are those of real servers (see registry.Replica), so not every read is
// stale:
//
//   - A get, list or watch with resourceVersion "0" is, and one that wants a state
//     not older than a version that the replica has. That is what informers start
//     with that list and watch, after a restart too.
//   - A version that the replica does not have is waited for, three seconds at the
//     most, and then answered 504, "Too large resource version". Informers send it
//     when they have seen more before.
//   - A watch is told of changes, and its bookmarks of versions, as far as the
//     replica has come, and of the rest once it has caught up.
//   - Without a resourceVersion reads are true. A get is no matter of the replica
//     and not hit by the fault. A list waits for three seconds, and is then made of
//     what is stored. So does a watch that is to begin with the state, as informers
//     of client-go 0.35 and later open it, and then it ends with a 504.
//   - Writes are made to what is stored: whoever updates what was stale meets a
//     conflict.
type Stale struct {
	// Pattern says what there is to see; "" means StaleState.
	Pattern StalePattern
	// Version is where the replica stands still, from 0 for now to as far back as
	// history reaches.
	Version uint64
	// Changes has the replica follow so many changes behind, those of each kind by
	// themselves.
	Changes int
	// Age has the replica learn of each change so much later, by the clock of the
	// store.
	Age time.Duration
	// After is the write after which the replica stands still, for an
	// IntermediateState. Up to then it does not lag.
	After *Write
	// EveryRead has reads without a resourceVersion answered stale as well, gets
	// among them. That is against the rules: no API server does so, caches that
	// stand before one may.
	EveryRead bool
}

// StalePattern is what a client sees of a replica that lags. They are the patterns
// of Sieve ("Automatic Reliability Testing for Cluster Management Controllers",
// OSDI 2022).
type StalePattern string

// The patterns.
const (
	// StaleState is a state from before what the client has seen: it goes back in
	// time, as after a restart with another server. The replica catches up with
	// every change that it has missed.
	StaleState StalePattern = "stale"
	// UnobservedState is a state that is never seen, between two that are. The
	// replica catches up by a list of what there is then: watches on it end with
	// ERROR 410, and the list after that tells nothing of what came and went.
	UnobservedState StalePattern = "unobserved"
	// IntermediateState is one in the middle of a sequence of writes. The replica
	// stops after one of them.
	IntermediateState StalePattern = "intermediate"
)

// Write says which write is meant, whoever makes it and by whichever door: what it
// changes. What is empty agrees with every one. Those that change nothing do not
// count.
type Write struct {
	// Type is ADDED, MODIFIED or DELETED. The deletion of an object that has
	// finalizers is MODIFIED, and DELETED once the last of them is gone.
	Type watch.EventType
	// Resource is a resource that is served, as that of Fault is.
	Resource string
	// Namespace and Name are those of the object.
	Namespace, Name string
	// When is asked last, once for each write, in their order. It must not read
	// through the replica.
	When func(registry.PastChange) bool `json:"-"`
	// Nth is the number, from 1, of those that agree. Zero means the first.
	Nth int
}

// String returns what it does in a few words.
func (s Stale) String() string {
	how := "stands still"
	switch {
	case s.Version != 0:
		how = fmt.Sprint("at version ", s.Version)
	case s.Changes != 0:
		how = fmt.Sprint(s.Changes, " changes behind")
	case s.Age != 0:
		how = fmt.Sprint(s.Age, " behind")
	case s.After != nil:
		how = "after " + s.After.String()
	}
	if s.EveryRead {
		how += ", every read"
	}
	return fmt.Sprintf("%s state (%s)", s.pattern(), how)
}

// String returns which writes are meant, such as "MODIFIED leases default/a nth=2".
func (w Write) String() string {
	parts := []string{"any"}
	if w.Type != "" {
		parts[0] = string(w.Type)
	}
	if w.Resource != "" {
		parts = append(parts, w.Resource)
	}
	parts = append(parts, objectPath(w.Namespace, w.Name))
	if w.When != nil {
		parts = append(parts, "when")
	}
	if w.Nth != 0 {
		parts = append(parts, fmt.Sprint("nth=", w.Nth))
	}
	return strings.Join(parts, " ")
}

func (s *Stale) pattern() StalePattern {
	if s.Pattern == "" {
		return StaleState
	}
	return s.Pattern
}

// validateStale tells where a fault with a Stale contradicts itself.
func (f *Fault) validateStale(ends []string) error {
	switch verb := f.Verb; {
	case len(ends) > 0:
		return fmt.Errorf("%s: got it with Stale, want one or the other: nothing comes of the read", ends[0])
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
	for _, set := range []bool{s.Version != 0, s.Changes != 0, s.Age != 0, s.After != nil} {
		if set {
			given++
		}
	}
	switch p := s.pattern(); {
	case p != StaleState && p != UnobservedState && p != IntermediateState:
		return problem("Pattern", "got %q, want %q, %q or %q", p, StaleState, UnobservedState, IntermediateState)
	case s.Changes < 0:
		return problem("Changes", "got %d, want 0 or more", s.Changes)
	case s.Age < 0:
		return problem("Age", "got %v, want 0 or more", s.Age)
	case p == IntermediateState && s.After == nil:
		return problem("After", "got none, want the write after which the replica stops: it makes the state an intermediate one")
	case p != IntermediateState && s.After != nil:
		return problem("After", "got it with Pattern %q, want it with %q", p, IntermediateState)
	case given > 1:
		return problem("Version, Changes, Age, After", "got %d of them, want one at most", given)
	case p == UnobservedState && (s.Changes != 0 || s.Age != 0):
		return problem("Pattern", "got %q with Changes or Age, want Version or none: who follows sees every state", p)
	case s.After == nil:
		return nil
	}
	switch w := s.After; {
	case w.Nth < 0:
		return problem("After.Nth", "got %d, want 0 or more", w.Nth)
	case w.Type != "" && w.Type != watch.Added && w.Type != watch.Modified && w.Type != watch.Deleted:
		return problem("After.Type", "got %q, want ADDED, MODIFIED or DELETED", w.Type)
	}
	return nil
}

// concerns reports whether a request is a matter of the replica.
func (s *Stale) concerns(r *Request) bool {
	switch {
	case r.Resource == "":
		return false
	case r.Verb == "get":
		return s.EveryRead || r.Query.Get("resourceVersion") != ""
	}
	return r.Verb == "list" || r.Verb == "watch"
}

// newReplica returns what a Stale describes.
func (a *API) newReplica(s *Stale) (*registry.Replica, error) {
	opts := registry.ReplicaOptions{Version: s.Version, Changes: s.Changes, Age: s.Age, EveryRead: s.EveryRead}
	if w := s.After; w != nil {
		var resource meta.GroupResource
		if w.Resource != "" {
			var err error
			if resource, err = a.resource(w.Resource, w.Namespace); err != nil {
				return nil, fmt.Errorf("After.%w", err)
			}
		}
		matches := 0
		opts.StopAfter = func(c registry.PastChange) bool {
			if w.matches(resource, c) {
				matches++
			}
			return matches == max(w.Nth, 1)
		}
	}
	return a.st.NewReplica(opts)
}

// matches reports whether a change is meant, resource being what Resource stands
// for.
func (w *Write) matches(resource meta.GroupResource, c registry.PastChange) bool {
	return (w.Type == "" || w.Type == c.Type) &&
		(w.Resource == "" || resource == c.Item.GroupResource()) &&
		(w.Namespace == "" || w.Namespace == c.Item.Namespace()) &&
		(w.Name == "" || w.Name == c.Item.Name()) &&
		(w.When == nil || w.When(c))
}

// putReplica makes the replica of a fault that has one.
func (in *Injected) putReplica() (err error) {
	if in.fault.Stale == nil {
		return nil
	}
	if in.replica, err = in.api.newReplica(in.fault.Stale); err != nil {
		return fmt.Errorf("apitest.Fault: Stale.%w", err)
	}
	return nil
}

// catchUp ends what the replica of a fault that has one lacks, and those of an
// adversary that still answer.
func (in *Injected) catchUp() {
	if in.replica != nil && in.fault.Stale.pattern() == UnobservedState {
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

// readFrom has a request answered by the replica of a fault; an adversary has one
// for each. The first that a request meets is the one.
func (x *exchange) readFrom(in *Injected, s *Stale) {
	replica := in.replica
	if replica == nil {
		replica, _ = x.api.newReplica(s) // none where times are not known
	}
	if replica == nil {
		return
	}
	x.api.mu.Lock()
	late := in.gone && in.replica == nil // nobody else will tell it
	if x.stale == nil {
		x.stale, x.replica = in, replica
		x.r = x.r.WithContext(replica.Context(caller.WithStale(x.r.Context())))
	}
	x.api.mu.Unlock()
	if late {
		replica.CatchUp()
	}
}
