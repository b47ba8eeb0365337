package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// panel is the part of a picture that shows one lease.
type panel struct {
	*canvas
	l    *Lease
	rows []*row
	lane []stretch // gaps
	// rules are marks that are about no candidate.
	rules []stretch
	loose []Mark // what rules refer to

	handovers []handover
	unlinked  int // hand-overs that are not drawn
	merged    int // things that are drawn together with others
	rowHeight float64
}

// row is one candidate or holder, or all that there was no more room for.
type row struct {
	name     string
	index    int // the colour
	others   int // how many candidates the row stands for beside none of a name
	offers   []Offer
	spans    []Span
	marks    map[MarkType][]Mark
	isGuest  bool // holds the lease, and is no candidate
	leads    bool
	busy     int
	latest   time.Time
	first    int // the place in the Lease
	drawn    [3][]stretch
	drawnFor map[MarkType][]stretch
}

// handover is where the lease went from one to another.
type handover struct {
	a, b     *row
	from, to Span
}

// newPanel lays out a lease so that it takes no more than a number of shapes.
func newPanel(c *canvas, l *Lease, shapes int) *panel {
	p := &panel{canvas: c, l: l}
	all := p.allRows()
	p.rows = p.choose(all)
	p.rowHeight = 26
	if len(p.rows) > 12 {
		p.rowHeight = 21
	}
	for distance := 1.0; p.arrange(distance) > shapes && distance < width; {
		distance *= 2
	}
	p.link(shapes / 10)
	return p
}

// allRows returns a row for everyone who was a candidate, held the lease, or has
// a mark.
func (p *panel) allRows() []*row {
	byName := map[string]*row{}
	var all []*row
	get := func(name string) *row {
		r := byName[name]
		if r == nil {
			r = &row{name: name, first: len(all), isGuest: true, marks: map[MarkType][]Mark{}}
			byName[name] = r
			all = append(all, r)
		}
		return r
	}
	for _, c := range p.l.Candidates {
		r := get(c.Name)
		r.isGuest, r.offers = false, c.Offers
		r.latest = c.Offers[len(c.Offers)-1].From
	}
	for _, s := range p.l.Spans {
		r := get(s.Holder)
		r.spans = append(r.spans, s)
		r.leads = s.Until.IsZero()
		r.latest = s.From
	}
	for _, m := range p.l.Marks {
		if m.Candidate == "" {
			p.loose = append(p.loose, m)
			continue
		}
		r := get(m.Candidate)
		r.marks[m.Type] = append(r.marks[m.Type], m)
		r.busy++
	}
	return all
}

// choose returns the rows to draw, the last of them for all that are too many.
func (p *panel) choose(all []*row) []*row {
	chosen := slices.Clone(all)
	if len(all) > maxRows {
		slices.SortStableFunc(chosen, func(a, b *row) int {
			return cmp.Or(
				first(a.leads, b.leads), first(len(a.spans) > 0, len(b.spans) > 0),
				b.latest.Compare(a.latest), cmp.Compare(b.busy, a.busy),
			)
		})
		rest := chosen[maxRows-1:]
		chosen = chosen[:maxRows-1]
		slices.SortFunc(chosen, func(a, b *row) int { return cmp.Compare(a.first, b.first) })
		chosen = append(chosen, together(rest))
	}
	for i, r := range chosen {
		r.index = i % colours
	}
	return chosen
}

func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// together makes one row of many.
func together(rest []*row) *row {
	sum := &row{name: fmt.Sprintf("%d more", len(rest)), others: len(rest), marks: map[MarkType][]Mark{}}
	for _, r := range rest {
		sum.offers = append(sum.offers, r.offers...)
		sum.spans = append(sum.spans, r.spans...)
		for t, marks := range r.marks {
			sum.marks[t] = append(sum.marks[t], marks...)
		}
	}
	slices.SortStableFunc(sum.offers, func(a, b Offer) int { return a.From.Compare(b.From) })
	slices.SortStableFunc(sum.spans, func(a, b Span) int { return a.From.Compare(b.From) })
	for _, marks := range sum.marks {
		slices.SortStableFunc(marks, func(a, b Mark) int { return a.Time.Compare(b.Time) })
	}
	return sum
}

// arrange finds out what to draw as one, and returns how many shapes it takes.
func (p *panel) arrange(distance float64) (shapes int) {
	p.merged = 0
	take := func(all []stretch) []stretch {
		shapes += len(all)
		for _, s := range all {
			p.merged += len(s.items) - 1
		}
		return all
	}
	moments := func(marks []Mark) []stretch {
		return take(gather(len(marks), 2.5*distance, func(i int) (float64, float64) { x := p.x(marks[i].Time); return x, x }))
	}
	p.lane = take(gather(len(p.l.Gaps), distance, func(i int) (float64, float64) {
		return p.x(p.l.Gaps[i].From), p.x(orUntil(p.l.Gaps[i].Until, p.until))
	}))
	p.rules = moments(p.loose)
	for _, r := range p.rows {
		offers := distance
		if r.others > 0 {
			offers = width // one line for all
		}
		r.drawn[0] = take(gather(len(r.offers), offers, func(i int) (float64, float64) {
			return p.x(r.offers[i].From), p.x(orUntil(r.offers[i].Until, p.until))
		}))
		r.drawn[1] = take(gather(len(r.spans), distance, func(i int) (float64, float64) {
			return p.x(r.spans[i].From), p.x(orUntil(r.spans[i].Until, p.until))
		}))
		r.drawnFor = make(map[MarkType][]stretch, len(r.marks))
		for t, marks := range r.marks {
			r.drawnFor[t] = moments(marks)
		}
	}
	return shapes
}

// link finds the hand-overs that there is room for.
func (p *panel) link(most int) {
	rows := map[string]*row{}
	for _, r := range p.rows {
		if r.others == 0 {
			rows[r.name] = r
		}
	}
	least, last := 3.0, 0.0
	changes := 0
	for i := 1; i < len(p.l.Spans); i++ {
		if p.l.Spans[i].Holder != p.l.Spans[i-1].Holder {
			changes++
		}
	}
	if changes > most {
		least = (plotRight - plotLeft) / float64(most)
	}
	for i := 1; i < len(p.l.Spans); i++ {
		a, b := p.l.Spans[i-1], p.l.Spans[i]
		if a.Holder == b.Holder {
			continue
		}
		x := p.x(b.From)
		if rows[a.Holder] == nil || rows[b.Holder] == nil || x-last < least {
			p.unlinked++
			continue
		}
		last = x
		p.handovers = append(p.handovers, handover{rows[a.Holder], rows[b.Holder], a, b})
	}
}

func (p *panel) height() float64 {
	return p.headHeight() + laneHeight + float64(len(p.rows))*p.rowHeight + axisHeight
}

func (p *panel) headHeight() float64 {
	if p.remark() == "" {
		return headHeight
	}
	return headHeight + 16
}

// note tells what the legend has to explain.
func (p *panel) note(used map[string]bool) {
	mark := func(marks []Mark) {
		for _, m := range marks {
			used[string(m.Type)] = true
		}
	}
	used["handover"] = used["handover"] || len(p.handovers) > 0
	used["gap"] = used["gap"] || len(p.l.Gaps) > 0
	used["offer"] = used["offer"] || len(p.l.Candidates) > 0
	used["span"] = used["span"] || len(p.l.Spans) > 0
	mark(p.l.Marks)
}

// remark says what is not to be seen, "" for nothing.
func (p *panel) remark() string {
	var parts []string
	if p.merged > 0 {
		parts = append(parts, fmt.Sprintf("%d drawn together with others nearby", p.merged))
	}
	if p.unlinked > 0 {
		parts = append(parts, count(p.unlinked, "hand-over")+" without an arrow")
	}
	return strings.Join(parts, ", ")
}
