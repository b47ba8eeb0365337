package explore

import (
	"fmt"
	"strings"
	"time"
)

// Report is the result of an exploration.
type Report struct {
	// Findings are what is wrong, each once, in the order in which they were found.
	Findings []*Finding
	// Once are findings that did not come again in any of their Of repetitions, with what the first run wrote beside what a repetition wrote. They
	// depend on the order of goroutines, and Run does not fail the test for them.
	Once []*Finding
	// Runs is how many perturbed runs there were. Runs that repeat a finding are not counted.
	Runs int
	// Requests is how many requests the controllers make in an undisturbed run.
	Requests int
	// NoHit are plans that met no request. NotRun are plans for which there was no time.
	NoHit, NotRun []string
	// Blind are plans whose runs could judge nothing, each with the reason: another client could not change the object, or a step waits for a
	// controller that is down.
	Blind []string
	// Covered tells for each action how many classes of plans there are, and of how many a plan was run: "crash-after 9/12, restart 3/3". Plans of one
	// class do the same to requests of one verb and resource from one place of the code. It is "" if the plans were given.
	Covered string
	// Masked are the members on which the undisturbed runs do not agree, each with its resource. They are not compared.
	Masked []string
	// Elapsed is the real time.
	Elapsed time.Duration
}

// Summary returns the numbers in one line.
func (r *Report) Summary() string {
	rate, digits := float64(r.Runs)/r.Elapsed.Seconds(), 0
	if rate < 10 {
		digits = 1 // with programs
	}
	s := fmt.Sprintf("%d runs in %s, %.*f a second: %d findings", r.Runs, r.Elapsed.Round(10*time.Millisecond), digits, rate, len(r.Findings))
	for _, part := range []struct {
		n    int
		text string
	}{{len(r.Once), "seen once"}, {len(r.NoHit), "plans hit nothing"}, {len(r.Blind), "plans could judge nothing"}, {len(r.NotRun), "plans were not run"}, {len(r.Masked), "members are masked"}} {
		if part.n > 0 {
			s += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	return s
}

// Finding is one thing that goes wrong.
type Finding struct {
	// Text says what is wrong, in one sentence. Details are what else is wrong at the same rest.
	Text    string
	Details []string
	// Where is the rest at which it was seen.
	Where string
	// Plans are the plans that lead to it, the simplest first.
	Plans []string
	// The first plan was run again: it led to the same finding Again times of Of.
	Again, Of int
	// Page is the HTML file of the finding, if Options.Dir is set.
	Page string
	// Outputs is what each process of a Command has written in a run with the finding, at most the last 64 KiB of each.
	Outputs []Output

	flag  string // that repeats a plan
	id    string
	head  verdict
	plans []plan
	seen  []*entry // what its first run wrote
	lines []line
	diffs []objectDiff
}

// Output is what a process has written to its standard output and error.
type Output struct {
	// Name is the name of the process in the report: "controller.2" is the second start of "controller".
	Name string
	Text string
}

// How much a finding shows as text. Its page has all.
const (
	shownLines  = 60 // of a timeline
	shownDiffs  = 2  // objects
	shownOfDiff = 30 // lines of each
)

// String returns the finding with its plan and what happened.
func (f *Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.Text)
	for i, d := range f.Details {
		if i == 5 {
			fmt.Fprintf(&b, "    and %d more\n", len(f.Details)-i)
			break
		}
		fmt.Fprintf(&b, "    %s\n", d)
	}
	fmt.Fprintf(&b, "  again %d of %d times by %s='%s'\n", f.Again, f.Of, f.flag, f.Plans[0])
	if n := len(f.Plans) - 1; n > 0 {
		fmt.Fprintf(&b, "  and by %d other plans, such as %q\n", n, f.Plans[1])
	}
	if f.Page != "" {
		fmt.Fprintf(&b, "  %s\n", f.Page)
	}
	for _, d := range f.diffs[:min(len(f.diffs), shownDiffs)] {
		fmt.Fprintf(&b, "  %s (+ this run, - undisturbed):\n", d.Name)
		for _, l := range d.Lines[:min(len(d.Lines), shownOfDiff)] {
			fmt.Fprintf(&b, "    %s\n", l)
		}
	}
	fmt.Fprintf(&b, "  what happened (! the perturbation, + only in this run, - only undisturbed):\n")
	for _, l := range around(f.lines, shownLines) {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	for _, o := range f.Outputs {
		if o.Text == "" {
			continue
		}
		fmt.Fprintf(&b, "  output of %s%s\n", o.Name, lastLines(o.Text))
	}
	return b.String()
}
