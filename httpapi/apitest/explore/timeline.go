package explore

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// entry is one thing that happened in a run.
type entry struct {
	at    time.Duration
	who   string
	text  string
	mark  bool // the perturbation
	watch bool
}

func (l *life) since(t time.Time) time.Duration { return t.Sub(l.began) }

// note adds a line to the log.
func (l *life) note(who, text string, mark bool) {
	if l.keep {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.log = append(l.log, &entry{at: l.since(time.Now()), who: who, text: text, mark: mark})
	}
}

// noteRequestLocked adds a request to the log, as it arrives.
func (l *life) noteRequestLocked(r apitest.Request, t target) {
	if l.keep {
		e := &entry{at: l.since(r.Time), who: r.Client, text: fmt.Sprintf("%s %s %s", t.verb, t.resource, t.object), watch: t.verb == "watch"}
		l.log = append(l.log, e)
		id := idOf(r)
		l.open[id] = append(l.open[id], e)
	}
}

// requestID finds the entry of a request.
type requestID struct {
	at                 time.Time
	client, verb, path string
}

func idOf(r apitest.Request) requestID { return requestID{r.Time, r.Client, r.Verb, r.Path} }

// collectLog adds the outcomes of the requests since the last call.
func (l *life) collectLog() {
	if !l.keep {
		return
	}
	all := l.api.Requests()
	l.api.ForgetRequests()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range all {
		entries := l.open[idOf(r)]
		if len(entries) == 0 {
			continue
		}
		e := entries[0]
		l.open[idOf(r)] = entries[1:]
		e.mark = len(r.Faults) > 0
		switch {
		case r.Status != 0 && !r.Cut:
			e.text += " " + strconv.Itoa(r.Status)
		case r.Cut:
			e.text += " no answer"
		}
	}
}

// timeline returns what happened, in the order of time.
func (l *life) timeline() []*entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.log)
}

// line is one line of two timelines side by side: got is what happened in the run, want what happened undisturbed.
type line struct {
	got, want *entry
}

// String returns the line with a mark: "!" for the perturbation, "+" and "-" for what only one side has.
func (l line) String() string {
	e, mark := l.got, " "
	switch {
	case l.got == nil:
		e, mark = l.want, "-"
	case l.got.mark:
		mark = "!"
	case l.want == nil:
		mark = "+"
	}
	return fmt.Sprintf("%s %10s  %-14s %s", mark, e.at.Round(time.Millisecond), e.who, e.text)
}

// beside aligns two timelines by their longest common subsequence. Watches that only one of them has are left out, but for the
// perturbation: each ends and starts again after a time of its own.
func beside(got, want []*entry) (out []line) {
	defer func() {
		out = slices.DeleteFunc(out, func(l line) bool {
			return l.got == nil && l.want.watch || l.want == nil && l.got.watch && !l.got.mark
		})
	}()
	// lengths[i][j] is the length of the longest common subsequence of got[i:] and want[j:].
	lengths := make([][]int32, len(got)+1)
	for i := range lengths {
		lengths[i] = make([]int32, len(want)+1)
	}
	for i := len(got) - 1; i >= 0; i-- {
		for j := len(want) - 1; j >= 0; j-- {
			if got[i].text == want[j].text {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(got) || j < len(want) {
		switch {
		case i < len(got) && j < len(want) && got[i].text == want[j].text:
			out = append(out, line{got[i], want[j]})
			i, j = i+1, j+1
		case j == len(want) || i < len(got) && lengths[i+1][j] >= lengths[i][j+1]:
			out = append(out, line{got: got[i]})
			i++
		default:
			out = append(out, line{want: want[j]})
			j++
		}
	}
	return out
}

// around returns the lines that a reader needs: from a little before the first mark on.
func around(lines []line, n int) []line {
	const before = 8
	first := max(0, slices.IndexFunc(lines, func(l line) bool { return l.got != nil && l.got.mark })-before)
	return lines[first:min(len(lines), first+n)]
}
