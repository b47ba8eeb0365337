package apitest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Fault says which requests meet with what. It is a value: API.Fault puts it in
// place.
//
// What matches is said by Verb to When, all of which must agree; those that are
// empty agree with every request. Which of the matching requests are hit is said
// by one of First, Nth and Every; without them all are. What happens to a
// request that is hit is said by the rest. Delay and ExpireHistory come first
// and go with all others; of Answer, Hang, Cut and Partition there may be one, or
// Tear, SlowEvents and Stale in their place.
type Fault struct {
	// Verb is get, list, watch, create, update, patch, apply, delete or
	// deletecollection. A patch is every kind of patch, apply is that of
	// server-side apply alone.
	Verb string
	// Resource is a resource that is served, by plural, singular or Kind, with
	// or without its group: "leases", "Lease", "leases.coordination.k8s.io".
	Resource string
	// Subresource is "status" for the requests to that of an object alone. Where
	// it is empty the object and its status are both meant.
	Subresource string
	// Namespace and Name are those in the path; the Name of a create is that in
	// its body.
	Namespace, Name string
	// UserAgent is a part of the header of this name.
	UserAgent string
	// Client is the name that was given to TransportFor.
	Client string
	// When is asked last. It may be called from many goroutines at once.
	When func(Request) bool

	// First hits the first requests that match, Nth only the one with this
	// number, from 1, and Every each one whose number it divides.
	First, Nth, Every int

	// Delay is how long the request is held back before anything else.
	Delay time.Duration
	// ExpireHistory has the store forget its history, see
	// store.Store.ExpireHistory, before the request goes on.
	ExpireHistory bool
	// Answer, if its Code is not 0, is sent in place of an answer of the API,
	// which does not see the request. What it leaves empty is filled in with what
	// a real server says; see Conflict and its like.
	Answer meta.Status
	// Hang leaves the request without an answer until its client gives up.
	Hang bool
	// Cut ends the connection.
	Cut Cut
	// Partition keeps the client away from the server until the fault is
	// removed, the requests under way included.
	Partition Partition
	// Tear ends a watch.
	Tear *Tear
	// SlowEvents is how long each event of a watch is held back.
	SlowEvents time.Duration
	// Stale has a replica answer that lags behind. Of several the first answers.
	Stale *Stale
}

// Cut says when the connection of a request is cut. Clients see a connection
// that was reset, or an unexpected end.
type Cut string

// The moments at which to cut.
const (
	// CutBefore cuts before the request is carried out: nothing is changed.
	CutBefore Cut = "before"
	// CutAfter cuts when the request has been carried out, in place of its
	// answer: the change is made, and the client does not know. Watches are
	// spared.
	CutAfter Cut = "after"
)

// Partition says how a client is kept away from the server.
type Partition string

// The kinds of partitions.
const (
	// Silent lets nothing through either way. New requests and the answers
	// under way wait; they go on once the fault is removed.
	Silent Partition = "silent"
	// Refused cuts the connections of the requests under way, open watches
	// among them, and of those that come.
	Refused Partition = "refused"
)

// Tear says how a watch ends: cleanly, as at its timeout, unless MidFrame or
// Error say otherwise.
type Tear struct {
	// After is how many events get through before, bookmarks and the initial
	// events included.
	After int
	// MidFrame waits for another event, sends half of it and cuts the
	// connection.
	MidFrame bool
	// Error, if its Code is not 0, is sent as an ERROR event.
	Error meta.Status
}

// verbs are the verbs of the API, and apply.
func verbs() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "apply", "delete", "deletecollection"}
}

// Validate returns an error that names the place and what was expected where the
// fault contradicts itself or would never do anything.
func (f Fault) Validate() error {
	if err := f.validateMatch(); err != nil {
		return fmt.Errorf("apitest.Fault: %w", err)
	}
	if err := f.validateAction(); err != nil {
		return fmt.Errorf("apitest.Fault: %w", err)
	}
	return nil
}

func (f *Fault) validateMatch() error {
	if f.Verb != "" && !slices.Contains(verbs(), f.Verb) {
		return problem("Verb", "got %q, want one of %s", f.Verb, strings.Join(verbs(), ", "))
	}
	if f.Name != "" && (f.Verb == "list" || f.Verb == "deletecollection") {
		return problem("Name", "got %q, want none: %s has no name", f.Name, f.Verb)
	}
	switch {
	case f.Subresource != "" && f.Subresource != "status":
		return problem("Subresource", "got %q, want \"status\" or none", f.Subresource)
	case f.Subresource != "" && f.Verb != "" && !slices.Contains([]string{"get", "update", "patch", "apply"}, f.Verb):
		return problem("Verb", "got %q with Subresource, want get, update, patch, apply or none", f.Verb)
	}
	counts := 0
	for _, n := range []struct {
		field string
		value int64
	}{
		{"First", int64(f.First)}, {"Nth", int64(f.Nth)}, {"Every", int64(f.Every)},
		{"Delay", int64(f.Delay)}, {"SlowEvents", int64(f.SlowEvents)},
	} {
		if n.value < 0 {
			return fmt.Errorf("%s: got %d, want 0 or more", n.field, n.value)
		}
		if n.value > 0 && n.field != "Delay" && n.field != "SlowEvents" {
			counts++
		}
	}
	if counts > 1 {
		return problem("First, Nth, Every", "got %d, %d, %d, want one of them at most", f.First, f.Nth, f.Every)
	}
	return nil
}

func (f *Fault) validateAction() error {
	ends := f.ends()
	switch {
	case len(ends) > 1:
		return fmt.Errorf("%s: got %d of them, want one: each decides what becomes of the request", strings.Join(ends, ", "), len(ends))
	case len(ends) == 1 && (f.Tear != nil || f.SlowEvents > 0):
		return fmt.Errorf("%s: got it with Tear or SlowEvents, want one or the other: no watch comes of the request", ends[0])
	case len(ends) == 0 && f.Tear == nil && f.SlowEvents == 0 && f.Stale == nil && f.Delay == 0 && !f.ExpireHistory:
		return errors.New("got nothing to do, want one of Delay, ExpireHistory, Answer, Hang, Cut, Partition, Tear, SlowEvents, Stale")
	case f.Cut != "" && f.Cut != CutBefore && f.Cut != CutAfter:
		return problem("Cut", "got %q, want %q or %q", f.Cut, CutBefore, CutAfter)
	case f.Cut == CutAfter && f.Verb == "watch":
		return problem("Cut", "got \"after\" for watch, want Tear: a watch has no commit")
	case f.Partition != "" && f.Partition != Silent && f.Partition != Refused:
		return problem("Partition", "got %q, want %q or %q", f.Partition, Silent, Refused)
	case f.Partition != "" && (f.First > 0 || f.Nth > 0 || f.Every > 0 || f.Delay > 0 || f.ExpireHistory):
		return problem("Partition", "got it with First, Nth, Every, Delay or ExpireHistory, want it alone: it lasts until it is removed")
	case (f.Tear != nil || f.SlowEvents > 0) && f.Verb != "" && f.Verb != "watch":
		return problem("Verb", "got %q with Tear or SlowEvents, want \"watch\" or none", f.Verb)
	case f.Tear != nil && f.Tear.After < 0:
		return problem("Tear.After", "got %d, want 0 or more", f.Tear.After)
	case f.Tear != nil && f.Tear.MidFrame && f.Tear.Error.Code != 0:
		return problem("Tear", "got MidFrame and Error, want one of them")
	}
	if f.Stale != nil {
		if err := f.validateStale(ends); err != nil {
			return err
		}
	}
	if err := validateStatus("Answer", f.Answer, 200); err != nil || f.Tear == nil {
		return err
	}
	return validateStatus("Tear.Error", f.Tear.Error, 400)
}

// ends returns the names of the fields that decide what becomes of a request.
func (f *Fault) ends() (names []string) {
	for _, end := range []struct {
		name string
		set  bool
	}{
		{"Answer", f.Answer.Code != 0}, {"Hang", f.Hang}, {"Cut", f.Cut != ""}, {"Partition", f.Partition != ""},
	} {
		if end.set {
			names = append(names, end.name)
		}
	}
	return names
}

// problem names the place and what was expected there.
func problem(field, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{field}, args...)...)
}

func validateStatus(field string, s meta.Status, least int32) error {
	switch {
	case s.Code == 0 && (s.Message != "" || s.Reason != "" || s.Status != "" || s.Details != nil):
		return fmt.Errorf("%s.Code: got 0 in a Status that says more, want %d to 599", field, least)
	case s.Code != 0 && (s.Code < least || s.Code > 599):
		return fmt.Errorf("%s.Code: got %d, want %d to 599", field, s.Code, least)
	case s.Details != nil && s.Details.RetryAfterSeconds < 0:
		return fmt.Errorf("%s.Details.RetryAfterSeconds: got %d, want 0 or more", field, s.Details.RetryAfterSeconds)
	}
	return nil
}

// String returns what is matched and what happens, for lists and messages.
func (f Fault) String() string {
	parts := []string{"any"}
	if f.Verb != "" {
		parts[0] = f.Verb
	}
	resource := f.Resource
	if f.Subresource != "" {
		resource = cmp.Or(resource, "*") + "/" + f.Subresource
	}
	for _, part := range []struct{ name, value string }{
		{"", resource}, {"", objectPath(f.Namespace, f.Name)}, {"userAgent=", f.UserAgent}, {"client=", f.Client},
	} {
		if part.value != "" {
			parts = append(parts, part.name+part.value)
		}
	}
	if f.When != nil {
		parts = append(parts, "when")
	}
	for _, part := range []struct {
		name  string
		value int
	}{{"first=", f.First}, {"nth=", f.Nth}, {"every=", f.Every}} {
		if part.value != 0 {
			parts = append(parts, fmt.Sprint(part.name, part.value))
		}
	}
	return strings.Join(parts, " ") + ": " + strings.Join(f.actions(), ", ")
}

// actions returns what happens, in its order.
func (f *Fault) actions() (out []string) {
	add := func(set bool, format string, args ...any) {
		if set {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(f.Delay > 0, "delay %v", f.Delay)
	add(f.ExpireHistory, "expire history")
	add(f.Answer.Code != 0, "answer %d", f.Answer.Code)
	add(f.Hang, "hang")
	add(f.Cut != "", "cut %s", f.Cut)
	add(f.Partition != "", "partition %s", f.Partition)
	add(f.SlowEvents > 0, "slow events %v", f.SlowEvents)
	add(f.Stale != nil, "%v", f.Stale)
	if t := f.Tear; t != nil {
		how := "cleanly"
		switch {
		case t.MidFrame:
			how = "in mid-frame"
		case t.Error.Code != 0:
			how = fmt.Sprintf("with ERROR %d", t.Error.Code)
		}
		add(true, "tear after %d %s", t.After, how)
	}
	return out
}
