package apitest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

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
