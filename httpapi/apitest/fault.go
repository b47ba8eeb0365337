package apitest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Fault describes which requests are hit, and what happens to them. API.Fault
// activates it.
//
// The fields from Verb to When choose the requests. All of them must match; an empty
// field matches every request. First limits how many are hit.
//
// The other fields are actions. Delay and ExpireHistory come first and combine with
// all others. After that a fault has at most one of Answer, Hang, Cut and Partition,
// or any of Tear, SlowEvents and Stale. Adversary stands alone.
type Fault struct {
	// Verb is get, list, watch, create, update, patch, apply, delete or
	// deletecollection. Patch includes apply; apply is only server-side apply.
	Verb string
	// Resource is the plural, singular or Kind of a served resource, with or without
	// its group: "leases", "Lease", "leases.coordination.k8s.io".
	Resource string
	// Subresource is "status", or "" for the object and its status.
	Subresource string
	// Namespace and Name are those in the path. The Name of a create is the one in
	// its body.
	Namespace, Name string
	// UserAgent is a part of the User-Agent header.
	UserAgent string
	// Client is the name that was passed to TransportFor.
	Client string
	// When is called last. It may be called from many goroutines at once.
	When func(Request) bool
	// First hits only the first n matching requests. Zero hits all.
	First int

	// Delay holds the request back before anything else happens.
	Delay time.Duration
	// ExpireHistory makes the store forget its history before the request goes on,
	// see store.Store.ExpireHistory.
	ExpireHistory bool
	// Answer replaces the answer of the API, which does not see the request. Only
	// Code is required. The other fields default to those of a real server:
	// meta.Status{Code: 409} is AlreadyExists for a create and Conflict otherwise,
	// and {Code: 429} asks the client to retry after one second.
	Answer meta.Status
	// Hang gives no answer. The request ends when the client gives up or the API ends.
	Hang bool
	// Cut closes the connection.
	Cut Cut
	// Partition separates the client from the server until Remove. It includes
	// requests in progress.
	Partition Partition
	// Tear ends a watch.
	Tear *Tear
	// SlowEvents holds each event of a watch back.
	SlowEvents time.Duration
	// Stale serves reads from a replica that lags. The first Stale that a request
	// meets serves it.
	Stale *Stale
	// Adversary chooses actions at random.
	Adversary *Adversary
}

// Cut says when a connection is closed. The client sees a connection reset or an
// unexpected end.
type Cut string

// The values of Fault.Cut.
const (
	// CutBefore cuts before the request is carried out: nothing changes.
	CutBefore Cut = "before"
	// CutAfter carries the request out and cuts instead of answering: the client
	// does not know about the change. It does not apply to watches.
	CutAfter Cut = "after"
)

// Partition says how a client is separated from the server.
type Partition string

// The values of Fault.Partition.
const (
	// Silent holds back new requests and the rest of answers in progress. They
	// continue after Remove.
	Silent Partition = "silent"
	// Refused cuts the connections of new requests and of requests in progress,
	// including open watches.
	Refused Partition = "refused"
)

// Tear ends a watch: cleanly, as its timeout does, unless MidFrame or Error is set.
type Tear struct {
	// After is how many events are sent before the end, including bookmarks and
	// initial events.
	After int
	// MidFrame sends half of the next event and cuts the connection.
	MidFrame bool
	// Error, if its Code is not 0, is sent as an ERROR event. Its other fields have
	// the same defaults as Fault.Answer.
	Error meta.Status
}

// describe returns the fault in one line: the requests and the actions.
func (f *Fault) describe() string {
	parts := []string{cmp.Or(f.Verb, "any")}
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
	if f.First != 0 {
		parts = append(parts, fmt.Sprint("first=", f.First))
	}
	return strings.Join(parts, " ") + ": " + strings.Join(f.actions(), ", ")
}

// actions describes the actions in their order.
func (f *Fault) actions() (out []string) {
	add := func(set bool, format string, args ...any) {
		if set {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(f.Delay != 0, "delay %v", f.Delay)
	add(f.ExpireHistory, "expire history")
	add(f.Answer.Code != 0, "answer %d", f.Answer.Code)
	add(f.Hang, "hang")
	add(f.Cut != "", "cut %s", f.Cut)
	add(f.Partition != "", "partition %s", f.Partition)
	add(f.SlowEvents != 0, "slow events %v", f.SlowEvents)
	if f.Stale != nil {
		add(true, "%s", f.Stale.describe())
	}
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
	if adv := f.Adversary; adv != nil {
		add(true, "adversary, %d%%, seed %d", adv.Percent, adv.Seed)
	}
	return out
}
