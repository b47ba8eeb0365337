package explore

import (
	"cmp"
	"fmt"
	"net/http"
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
	step  bool // a step begins
}

func (l *life) since(t time.Time) time.Duration { return t.Sub(l.began) }

// note adds a line to the log.
func (l *life) note(who, text string, mark bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteLocked(who, text, mark)
}

func (l *life) noteLocked(who, text string, mark bool) {
	if l.keep {
		l.log = append(l.log, &entry{At: l.since(time.Now()), Who: who, Text: text, mark: mark})
	}
}

// noteStep adds the begin of a step to the log.
func (l *life) noteStep(n int, name string) {
	l.note("user", "step "+strconv.Itoa(n)+": "+name, false)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keep {
		l.log[len(l.log)-1].step = true
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
		carriedOut := ""
		if (r.Cut || r.Status >= http.StatusBadRequest) && r.Result != (apitest.Result{}) {
			carriedOut = ", carried out"
		}
		switch {
		case r.Status != 0 && !r.Cut:
			e.Text += " " + strconv.Itoa(r.Status) + carriedOut
		case r.Cut:
			e.Text += " no answer" + carriedOut
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
	// Folded is how many lines before this one come Times more. Got and Want are then the last of these.
	Folded, Times int
}

// Mark is "!" for the perturbation, "+" or "-" for what only one side has, and else a blank.
func (l line) Mark() string {
	switch {
	case l.Folded > 0:
		return " "
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
	if l.Folded > 0 {
		return fmt.Sprintf("%s %10s  %-14s %s", l.Mark(), e.At.Round(time.Millisecond), "", l.Fold())
	}
	return fmt.Sprintf("%s %10s  %-14s %s", l.Mark(), e.At.Round(time.Millisecond), e.Who, e.Text)
}

// beside aligns two timelines by their longest common subsequences, each step for itself. Watches that only one of them has are left out, but for the
// perturbation: each ends and starts again after a time of its own. Lines that come again and again are folded.
func beside(got, want []*entry) []line {
	var all []line
	a, b := bySteps(got), bySteps(want)
	for i := range max(len(a), len(b)) {
		all = append(all, align(partOf(a, i), partOf(b, i))...)
	}
	return fold(slices.DeleteFunc(all, func(l line) bool {
		return l.Got == nil && l.Want.watch || l.Want == nil && l.Got.watch && !l.Got.mark
	}))
}

// bySteps divides a timeline into what comes before the first step, and a part for each step.
func bySteps(all []*entry) (parts [][]*entry) {
	from := 0
	for i, e := range all {
		if e.step {
			parts = append(parts, all[from:i])
			from = i
		}
	}
	return append(parts, all[from:])
}

func partOf(parts [][]*entry, i int) []*entry {
	if i < len(parts) {
		return parts[i]
	}
	return nil
}

// maxCells bounds the memory for an alignment, in cells of four bytes. Longer parts that differ are shown one after the other.
const maxCells = 16 << 20

// align aligns two parts of timelines.
func align(got, want []*entry) (out []line) {
	same := func(i, j int) bool { return got[i].Text == want[j].Text }
	i, j := 0, 0
	for i < min(len(got), len(want)) && same(i, i) {
		out = append(out, line{Got: got[i], Want: want[i]})
		i++
	}
	j = i
	// lengths[i][j] is the length of the longest common subsequence of the rests of both from i and j on.
	var lengths [][]int32
	if n, m := len(got)-i+1, len(want)-j+1; n*m <= maxCells {
		lengths = lengthsOf(n, m, func(a, b int) bool { return same(i+a, j+b) })
	}
	from := i
	for i < len(got) || j < len(want) {
		switch {
		case lengths != nil && i < len(got) && j < len(want) && same(i, j):
			out = append(out, line{Got: got[i], Want: want[j]})
			i, j = i+1, j+1
		case j == len(want) || i < len(got) && (lengths == nil || lengths[i-from+1][j-from] >= lengths[i-from][j-from+1]):
			out = append(out, line{Got: got[i]})
			i++
		default:
			out = append(out, line{Want: want[j]})
			j++
		}
	}
	return out
}

// lengthsOf returns the lengths of the longest common subsequences of the rests of two lists with n-1 and m-1 elements.
func lengthsOf(n, m int, same func(i, j int) bool) [][]int32 {
	lengths := make([][]int32, n)
	for i := range lengths {
		lengths[i] = make([]int32, m)
	}
	for i := n - 2; i >= 0; i-- {
		for j := m - 2; j >= 0; j-- {
			if same(i, j) {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	return lengths
}

// Fold says what a line stands for that folds others.
func (l line) Fold() string {
	if l.Folded == 1 {
		return fmt.Sprintf("… %d times more", l.Times)
	}
	return fmt.Sprintf("… these %d lines %d times more", l.Folded, l.Times)
}

// same reports whether two lines differ in their times only.
func (l line) same(other line) bool {
	equal := func(a, b *entry) bool {
		return a == b || a != nil && b != nil && a.Who == b.Who && a.Text == b.Text && !a.mark && !b.mark
	}
	return equal(l.Got, other.Got) && equal(l.Want, other.Want)
}

// maxFolded is how many lines may come again as one: an elector asks three times in a round, a loop some times more.
const maxFolded = 12

// fold replaces lines that come again and again, one or several in the same order, by one line that counts them.
func fold(lines []line) (out []line) {
	for i := 0; i < len(lines); {
		size, times := repeated(lines[i:])
		out = append(out, lines[i:i+size]...)
		i += size
		if times > 0 {
			last := lines[i+size*times-1]
			out = append(out, line{last.Got, last.Want, size, times})
			i += size * times
		}
	}
	return out
}

// repeated returns how many of the first lines come again just after them, and how many times, so that as many lines as possible are folded.
// What is not worth a fold is one line that comes no more.
func repeated(lines []line) (size, times int) {
	size = 1
	saved := 1
	for n := 1; n <= min(maxFolded, len(lines)/2); n++ {
		again := 0
		for at := n; at+n <= len(lines) && slices.EqualFunc(lines[:n], lines[at:at+n], line.same); at += n {
			again++
		}
		if n*again > saved {
			size, times, saved = n, again, n*again
		}
	}
	return size, times
}

// around returns the lines that a reader needs: from a little before the first mark on.
func around(lines []line, n int) []line {
	const before = 8
	first := max(0, slices.IndexFunc(lines, func(l line) bool { return l.Mark() == "!" })-before)
	return lines[first:min(len(lines), first+n)]
}
