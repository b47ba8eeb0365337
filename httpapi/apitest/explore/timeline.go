package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// entry is one thing that happened in a run. The page shows its exported fields.
type entry struct {
	At    time.Duration
	Who   string
	Text  string
	mark  bool // the perturbation
	watch bool
}

func (l *life) since(t time.Time) time.Duration { return t.Sub(l.began) }

// note adds a line to the log.
func (l *life) note(who, text string, mark bool) {
	if l.keep {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.log = append(l.log, &entry{At: l.since(time.Now()), Who: who, Text: text, mark: mark})
	}
}

// noteRequestLocked adds a request to the log, as it arrives.
func (l *life) noteRequestLocked(r apitest.Request, t target) {
	if l.keep {
		e := &entry{At: l.since(r.Time), Who: r.Client, Text: fmt.Sprintf("%s %s %s", t.verb, t.resource, t.object), watch: t.verb == "watch"}
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
			e.Text += " " + strconv.Itoa(r.Status)
		case r.Cut:
			e.Text += " no answer"
		}
	}
}

// timeline returns what happened, in the order of time.
func (l *life) timeline() []*entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.log)
}

// line is one line of two timelines side by side: Got is what happened in the run, Want what happened undisturbed.
type line struct {
	Got, Want *entry
}

// Mark is "!" for the perturbation, "+" or "-" for what only one side has, and else a blank.
func (l line) Mark() string {
	switch {
	case l.Got == nil:
		return "-"
	case l.Got.mark:
		return "!"
	case l.Want == nil:
		return "+"
	}
	return " "
}

// String returns the line with its mark.
func (l line) String() string {
	e := cmp.Or(l.Got, l.Want)
	return fmt.Sprintf("%s %10s  %-14s %s", l.Mark(), e.At.Round(time.Millisecond), e.Who, e.Text)
}

// beside aligns two timelines by their longest common subsequence. Watches that only one of them has are left out, but for the
// perturbation: each ends and starts again after a time of its own.
func beside(got, want []*entry) (out []line) {
	defer func() {
		out = slices.DeleteFunc(out, func(l line) bool {
			return l.Got == nil && l.Want.watch || l.Want == nil && l.Got.watch && !l.Got.mark
		})
	}()
	// lengths[i][j] is the length of the longest common subsequence of got[i:] and want[j:].
	lengths := make([][]int32, len(got)+1)
	for i := range lengths {
		lengths[i] = make([]int32, len(want)+1)
	}
	for i := len(got) - 1; i >= 0; i-- {
		for j := len(want) - 1; j >= 0; j-- {
			if got[i].Text == want[j].Text {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(got) || j < len(want) {
		switch {
		case i < len(got) && j < len(want) && got[i].Text == want[j].Text:
			out = append(out, line{got[i], want[j]})
			i, j = i+1, j+1
		case j == len(want) || i < len(got) && lengths[i+1][j] >= lengths[i][j+1]:
			out = append(out, line{Got: got[i]})
			i++
		default:
			out = append(out, line{Want: want[j]})
			j++
		}
	}
	return out
}

// around returns the lines that a reader needs: from a little before the first mark on.
func around(lines []line, n int) []line {
	const before = 8
	first := max(0, slices.IndexFunc(lines, func(l line) bool { return l.Mark() == "!" })-before)
	return lines[first:min(len(lines), first+n)]
}
