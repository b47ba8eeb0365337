package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
)

// Row is one line of the table form.
type Row struct {
	Time time.Time
	// Lasted is the duration, 0 for a Mark.
	Lasted time.Duration
	// Who is the candidate or holder, or "".
	Who  string
	What string
}

// Rows returns the spans, gaps, marks and offers of a Lease, sorted by time. until is the
// end of items that have not ended. Texts are not cleaned.
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

// versions describes the versions of an offer.
func versions(o Offer) string {
	if o.BinaryVersion == "" && o.EmulationVersion == "" {
		return ""
	}
	return ": " + cmp.Or(o.BinaryVersion, "?") + " as " + cmp.Or(o.EmulationVersion, "?")
}

// What describes a Mark in words.
func (m Mark) What() string {
	switch m.Type {
	case candidate.Pinged:
		return "is pinged"
	case candidate.Answered:
		return "answers"
	case candidate.Silent:
		return "does not answer"
	case candidate.Elected:
		return "is elected"
	case candidate.Preferred:
		return "is preferred: the holder is asked to make way"
	case candidate.PreferenceCleared:
		return "the holder need not make way"
	case candidate.StrategySet:
		return "the strategy is set"
	case candidate.Missed:
		return "did not take up the lease"
	case candidate.Collected:
		return "is deleted, since it did not renew"
	case candidate.Failed:
		return "nobody can be elected: " + m.Text
	}
	return strings.TrimSpace(string(m.Type) + " " + m.Text)
}

// What describes a Span in words.
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

// count returns a number with a noun.
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

// summary describes a Lease in one line.
func (l *Lease) summary() string {
	parts := []string{clean(short(cmp.Or(l.Strategy, "no strategy"), 60)), count(len(l.Candidates), "candidate"), clean(l.Now())}
	if l.isPlain() {
		parts = []string{count(len(l.Spans), "term"), clean(l.Now())}
	}
	if l.Forgotten > 0 {
		parts = append(parts, count(l.Forgotten, "older record")+" forgotten")
	}
	return strings.Join(parts, ", ")
}

// Round rounds a duration for display.
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
