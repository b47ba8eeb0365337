package apitest

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
)

// Request is a request that the server received, and its outcome so far.
type Request struct {
	// Time is when it was received, by the clock of the store.
	Time time.Time
	// Verb is get, list, watch, create, update, patch, apply, delete or
	// deletecollection. For other paths it is the method in lower case.
	Verb  string
	Path  string
	Query url.Values
	// These are taken from the path of a resource, and the Name of a create from its body.
	Group, Version, Resource, Namespace, Name string
	// Subresource is the part of the path below the object, such as "status", or "".
	Subresource string
	// Client is the name that was passed to TransportFor or WithClient.
	UserAgent, Client, ContentType string
	// Body holds the first 16 KiB of the body. BodySize is its size in bytes.
	Body     []byte
	BodySize int
	// Status is the code of the answer, 0 if there is none yet. Done means that the answer is
	// complete, Cut that the connection was cut.
	Status    int
	Done, Cut bool
	// Duration is how long the request took, by the clock of the store. It is zero until Done.
	Duration time.Duration
	// Watch is how a watch went. It is zero for other requests.
	Watch WatchEnd
	// Faults are the faults that hit the request, in their order.
	Faults []*Fault
	// Result is what a write did, whatever its answer was. Of several objects it is the last one. It is
	// zero if no object of the resource was written, and if Options.KeepHistory is negative.
	Result Result

	kind  *kinds.Kind // that Resource names, or nil
	write *write      // or nil
}

// WatchEnd is how a watch went so far.
type WatchEnd struct {
	// Events is how many events were sent, with bookmarks and initial events.
	Events int
	// Error is the code of the ERROR event that ended the watch, or 0.
	Error int
	// Left means that the client ended the watch.
	Left bool
}

// Result identifies the state of an object that a write has made. After a deletion it is the last state,
// with the version of the deletion.
type Result struct {
	Namespace, Name, UID, ResourceVersion string
}

// String returns the request in one line: the verb, the resource and the object, or the path, and the
// outcome, such as "update leases default/a 409" or "list leases * cut".
func (r Request) String() string {
	what := r.Path
	if r.Resource != "" {
		what = path.Join(r.Resource, r.Subresource) + " " + objectPath(r.Namespace, r.Name)
	}
	outcome := "pending"
	switch {
	case r.Status != 0:
		outcome = strconv.Itoa(r.Status)
		if r.Cut {
			outcome += " cut"
		}
	case r.Cut:
		outcome = "cut"
	}
	return r.Verb + " " + what + " " + outcome
}

func (r *Request) isSelective() bool {
	return r.Query.Get("labelSelector")+r.Query.Get("fieldSelector")+r.Query.Get("shardSelector") != ""
}

func objectPath(namespace, name string) string {
	switch {
	case namespace == "" && name == "":
		return "*"
	case name == "":
		return namespace + "/*"
	case namespace == "":
		return name
	}
	return namespace + "/" + name
}

// Requests are requests in the order of their arrival.
type Requests []Request

// Where returns the requests for which keep returns true, such as Match.Matches.
func (rs Requests) Where(keep func(Request) bool) Requests {
	var out Requests
	for _, r := range rs {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

// Assert compares the requests, in the form of Request.String, with want, and reports whether they are
// equal. If not, the test fails with the difference: missing lines begin with "-", unexpected ones
// with "+". A line may be in the longer form of Request.Ended instead.
func (rs Requests) Assert(t TB, want ...string) bool {
	t.Helper()
	got := make([]string, len(rs))
	for i, r := range rs {
		got[i] = r.String()
		if i < len(want) && r.Ended() == want[i] {
			got[i] = want[i]
		}
	}
	text, same := diff(want, got)
	if !same {
		t.Errorf("apitest: requests: got %d, want %d (- wanted, + got):\n%s", len(got), len(want), text)
	}
	return same
}

func diff(want, got []string) (text string, same bool) {
	var b strings.Builder
	line := func(mark, s string) { b.WriteString("  " + mark + " " + s + "\n") }
	same = true
	for len(want) > 0 || len(got) > 0 {
		switch {
		case len(want) > 0 && len(got) > 0 && want[0] == got[0]:
			line(" ", want[0])
			want, got = want[1:], got[1:]
			continue
		case len(got) == 0 || len(want) > 0 && (slices.Contains(want[1:], got[0]) || !slices.Contains(got[1:], want[0])):
			line("-", want[0])
			want = want[1:]
		default:
			line("+", got[0])
			got = got[1:]
		}
		same = false
	}
	return b.String(), same
}

// Ended is like String, and for a watch it adds how and when the watch ended:
//
//	watch leases default/* 200, 410 after 3 events, 2.1s
//	watch leases default/* 200, left after 3 events, 2.1s
//
// The client left it, a timeout or EndWatch ended it, its connection was cut, or an ERROR event with a code was the
// last. It is open as long as it goes on.
func (r Request) Ended() string {
	line := r.String()
	if r.Verb != "watch" || r.Status != 200 {
		return line
	}
	how := "ended"
	switch {
	case !r.Done:
		return fmt.Sprintf("%s, open after %d events", line, r.Watch.Events)
	case r.Watch.Error != 0:
		how = fmt.Sprint(r.Watch.Error)
	case r.Cut:
		how = "cut"
	case r.Watch.Left:
		how = "left"
	}
	return fmt.Sprintf("%s, %s after %d events, %s", strings.TrimSuffix(line, " cut"), how, r.Watch.Events, r.Duration)
}

// Timeline returns the requests as lines for people: the time since the first one, the client, the request as in Ended, with the
// generated name of an object, and the faults that hit it. Columns are aligned:
//
//	  0s  worker  create leases default/a 201
//	1.5s  worker  update leases default/a cut  <- update leases *: cut after
func (rs Requests) Timeline() []string {
	var lines []string
	widest, longest := 0, 0
	for _, r := range rs {
		widest, longest = max(widest, len(r.Client)), max(longest, len(r.since(rs[0].Time)))
	}
	for _, r := range rs {
		if r.Name == "" {
			r.Name = r.Result.Name
		}
		line := fmt.Sprintf("%*s  %-*s  %s", longest, r.since(rs[0].Time), widest, r.Client, r.Ended())
		for _, f := range slices.Compact(slices.Clone(r.Faults)) {
			line += "  <- " + f.String()
		}
		lines = append(lines, line)
	}
	return lines
}

func (r *Request) since(start time.Time) string {
	return r.Time.Sub(start).Round(time.Microsecond).String()
}

// shownRequests is how many requests a failed test shows.
const shownRequests = 50

func (a *API) logTimeline(t TB) {
	t.Helper()
	all := a.Requests()
	if test, ok := t.(interface{ Failed() bool }); !ok || !test.Failed() || len(all) == 0 {
		return
	}
	last := all[max(0, len(all)-shownRequests):]
	t.Logf("apitest: the last %d of %d requests:\n%s", len(last), len(all), strings.Join(last.Timeline(), "\n"))
}
