package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Row is one line of the table form: something that happened, or went on.
type Row struct {
	Time time.Time
	// Lasted is how long it went on, 0 for what happened at one moment.
	Lasted time.Duration
	// Who is the candidate or holder, "" for nobody.
	Who  string
	What string
}

// Rows returns what happened to a lease, ordered by time: spans, gaps and marks,
// and candidates that came and went. until stands for the end of what lasts.
// Texts are as they were written, and may hold anything.
func (l *Lease) Rows(until time.Time) []Row {
	rows := make([]Row, 0, len(l.Spans)+len(l.Gaps)+len(l.Marks)+2*len(l.Candidates))
	for _, c := range l.Candidates {
		for i, o := range c.Offers {
			what := "is a candidate"
			if i > 0 {
				what = "is a candidate again"
				if c.Offers[i-1].Until.Equal(o.From) {
					what = "changes its offer"
				}
			}
			rows = append(rows, Row{o.From, 0, c.Name, what + versions(o)})
			if !o.Until.IsZero() && (i == len(c.Offers)-1 || !c.Offers[i+1].From.Equal(o.Until)) {
				rows = append(rows, Row{o.Until, 0, c.Name, "is no candidate any more"})
			}
		}
	}
	for _, m := range l.Marks {
		rows = append(rows, Row{m.Time, 0, m.Candidate, m.What()})
	}
	for _, g := range l.Gaps {
		rows = append(rows, Row{g.From, orUntil(g.Until, until).Sub(g.From), "", "nobody leads"})
	}
	for _, s := range l.Spans {
		rows = append(rows, Row{s.From, orUntil(s.Until, until).Sub(s.From), s.Holder, s.What()})
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.Time.Compare(b.Time) })
	return rows
}

// versions says what a candidate offers.
func versions(o Offer) string {
	if o.BinaryVersion == "" && o.EmulationVersion == "" {
		return ""
	}
	return ": " + cmp.Or(o.BinaryVersion, "?") + " as " + cmp.Or(o.EmulationVersion, "?")
}

// What says in words what happened.
func (m Mark) What() string {
	switch m.Type {
	case Pinged:
		return "is pinged"
	case Answered:
		return "answers"
	case Silent:
		return "does not answer"
	case Elect:
		return "is elected"
	case Prefer:
		return "is preferred: the holder is asked to make way"
	case PreferenceCleared:
		return "the holder need not make way"
	case StrategySet:
		return "the strategy is set"
	case Missed:
		return "did not take up the lease"
	case Collected:
		return "is deleted, since it did not renew"
	case Failed:
		return "nobody can be elected: " + m.Text
	}
	return strings.TrimSpace(string(m.Type) + " " + m.Text)
}

// What says in words how a span began, went on and ended.
func (s Span) What() string {
	what := "leads, " + string(s.Began)
	if s.TakenUp.IsZero() {
		what = string(s.Began) + ", has not taken up the lease"
	}
	if s.Renewals > 0 {
		what += fmt.Sprintf(", %s", count(s.Renewals, "renewal"))
	}
	if s.Ended != "" {
		return what + ", then " + string(s.Ended)
	}
	return what + ", still holds it"
}

// count says how many there are of something.
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// WriteText writes a Timeline as tables for a terminal, one for each lease.
func (t Timeline) WriteText(w io.Writer) error {
	if len(t.Leases) == 0 {
		_, err := fmt.Fprintln(w, "no elections")
		return err
	}
	for i, l := range t.Leases {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := l.writeText(w, t); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lease) writeText(w io.Writer, t Timeline) error {
	fmt.Fprintf(w, "%s, %s\n", clean(l.Namespace+"/"+l.Name), l.summary())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TIME\tLASTS\tWHO\tWHAT")
	for _, r := range l.Rows(t.Until) {
		lasts := "-"
		if r.Lasted > 0 {
			lasts = Round(r.Lasted).String()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Time.UTC().Format("2006-01-02 15:04:05.000"), lasts, clean(cmp.Or(r.Who, "-")), clean(r.What))
	}
	return table.Flush()
}

// summary says in a line what there is to see of a lease.
func (l *Lease) summary() string {
	parts := []string{clean(short(cmp.Or(l.Strategy, "no strategy"), 60)), count(len(l.Candidates), "candidate"), clean(l.Now())}
	if l.Forgotten > 0 {
		parts = append(parts, count(l.Forgotten, "older record")+" forgotten")
	}
	return strings.Join(parts, ", ")
}

// Round returns a duration as precise as it is of interest to somebody who
// looks at elections.
func Round(d time.Duration) time.Duration {
	switch {
	case d >= time.Hour:
		return d.Round(time.Second)
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}
