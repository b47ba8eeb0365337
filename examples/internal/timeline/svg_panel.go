package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
)

// colours is the number of colours for holders: the classes h0 to h7 of the style sheet.
const colours = 8

// panel is the part of a picture that shows one lease.
type panel struct {
	*canvas
	l              *Lease
	rows           []*row
	gapShapes      []cluster
	freeMarks      []Mark // marks without a candidate
	freeMarkShapes []cluster

	handovers []handover
	unlinked  int // hand-overs that are not drawn
	merged    int // items that are drawn as part of another shape
	rowHeight float64
}

// row shows one candidate or holder. If there are too many, the last row shows the rest.
type row struct {
	name         string
	index        int // the colour
	others       int // number of candidates in the last row; 0 in other rows
	offers       []Offer
	spans        []Span
	marks        map[candidate.ElectionEventType][]Mark
	notCandidate bool // the holder is not a candidate
	leads        bool
	marked       int // number of marks
	latest       time.Time
	order        int // the position in the Lease

	offerShapes, spanShapes []cluster
	markShapes              map[candidate.ElectionEventType][]cluster
}

// handover is a change of the holder.
type handover struct {
	a, b     *row
	from, to Span
}

// newPanel lays out a lease with at most the given number of shapes.
func newPanel(c *canvas, l *Lease, shapes int) *panel {
	p := &panel{canvas: c, l: l}
	all := p.allRows()
	p.rows = p.choose(all)
	p.rowHeight = 26
	if len(p.rows) > 12 {
		p.rowHeight = 21
	}
	for distance := 1.0; p.makeShapes(distance) > shapes && distance < width; {
		distance *= 2
	}
	p.link(shapes / 10)
	return p
}

// allRows returns a row for each name that was a candidate, held the lease, or has a
// mark.
func (p *panel) allRows() []*row {
	byName := map[string]*row{}
	var all []*row
	get := func(name string) *row {
		r := byName[name]
		if r == nil {
			r = &row{name: name, order: len(all), notCandidate: true, marks: map[candidate.ElectionEventType][]Mark{}}
			byName[name] = r
			all = append(all, r)
		}
		return r
	}
	for _, c := range p.l.Candidates {
		r := get(c.Name)
		r.notCandidate, r.offers = false, c.Offers
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
			p.freeMarks = append(p.freeMarks, m)
			continue
		}
		r := get(m.Candidate)
		r.marks[m.Type] = append(r.marks[m.Type], m)
		r.marked++
	}
	return all
}

// choose returns the rows to draw. The last one merges the rows that do not fit.
func (p *panel) choose(all []*row) []*row {
	chosen := slices.Clone(all)
	if len(all) > maxRows {
		slices.SortStableFunc(chosen, func(a, b *row) int {
			return cmp.Or(
				trueFirst(a.leads, b.leads), trueFirst(len(a.spans) > 0, len(b.spans) > 0),
				b.latest.Compare(a.latest), cmp.Compare(b.marked, a.marked),
			)
		})
		rest := chosen[maxRows-1:]
		chosen = chosen[:maxRows-1]
		slices.SortFunc(chosen, func(a, b *row) int { return cmp.Compare(a.order, b.order) })
		chosen = append(chosen, mergeRows(rest))
	}
	for i, r := range chosen {
		r.index = i % colours
	}
	return chosen
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// mergeRows makes one row of many.
func mergeRows(rest []*row) *row {
	sum := &row{name: fmt.Sprintf("%d more", len(rest)), others: len(rest), marks: map[candidate.ElectionEventType][]Mark{}}
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

// makeShapes draws items that are closer than distance as one shape, and returns the
// number of shapes.
func (p *panel) makeShapes(distance float64) (shapes int) {
	p.merged = 0
	take := func(all []cluster) []cluster {
		shapes += len(all)
		for _, s := range all {
			p.merged += len(s.items) - 1
		}
		return all
	}
	moments := func(marks []Mark) []cluster {
		return take(clusters(len(marks), 2.5*distance, func(i int) (float64, float64) { x := p.x(marks[i].Time); return x, x }))
	}
	p.gapShapes = take(clusters(len(p.l.Gaps), distance, func(i int) (float64, float64) {
		return p.x(p.l.Gaps[i].From), p.x(orUntil(p.l.Gaps[i].Until, p.until))
	}))
	p.freeMarkShapes = moments(p.freeMarks)
	for _, r := range p.rows {
		offers := distance
		if r.others > 0 {
			offers = width // one line for all
		}
		r.offerShapes = take(clusters(len(r.offers), offers, func(i int) (float64, float64) {
			return p.x(r.offers[i].From), p.x(orUntil(r.offers[i].Until, p.until))
		}))
		r.spanShapes = take(clusters(len(r.spans), distance, func(i int) (float64, float64) {
			return p.x(r.spans[i].From), p.x(orUntil(r.spans[i].Until, p.until))
		}))
		r.markShapes = make(map[candidate.ElectionEventType][]cluster, len(r.marks))
		for t, marks := range r.marks {
			r.markShapes[t] = moments(marks)
		}
	}
	return shapes
}

// link chooses the hand-overs to draw. If there are more than most, it leaves out the
// ones that are close together.
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
	if p.omissions() == "" {
		return headHeight
	}
	return headHeight + 16
}

// addToLegend adds the keys of the legend entries that the panel needs.
func (p *panel) addToLegend(used map[string]bool) {
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

// omissions describes what the panel does not show in full, or returns "".
func (p *panel) omissions() string {
	var parts []string
	if p.merged > 0 {
		parts = append(parts, fmt.Sprintf("%d drawn together with others nearby", p.merged))
	}
	if p.unlinked > 0 {
		parts = append(parts, count(p.unlinked, "hand-over")+" without an arrow")
	}
	return strings.Join(parts, ", ")
}
