package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubecoord/kubecoord/candidate"
)

// panel is the part of a picture that shows one lease.
type panel struct {
	*canvas
	l      Lease // with the items to draw
	rows   []*row
	byName map[string]*row
	all    *Lease
	left   int // rows that are left out
	older  int // items that are left out
}

// row shows one candidate or holder.
type row struct {
	name   string
	class  string // the colour: one of the classes h0 to h7 of the style sheet
	offers []Offer
	leads  bool
	latest time.Time // of its spans and offers
	y      float64
}

// newest returns the last items of a list, and counts the others.
func newest[T any](items []T, most int, older *int) []T {
	left := max(len(items)-most, 0)
	*older += left
	return items[left:]
}

// newPanel lays out a lease with at most so many spans, gaps and marks.
func newPanel(c *canvas, l *Lease, most int) *panel {
	p := &panel{canvas: c, l: *l, all: l, byName: map[string]*row{}}
	p.l.Spans = newest(l.Spans, most, &p.older)
	p.l.Gaps = newest(l.Gaps, most, &p.older)
	p.l.Marks = newest(l.Marks, most, &p.older)
	get := func(name string, latest time.Time) *row {
		r := p.byName[name]
		if r == nil {
			r = &row{name: name}
			p.byName[name] = r
			p.rows = append(p.rows, r)
		}
		if latest.After(r.latest) {
			r.latest = latest
		}
		return r
	}
	for _, c := range l.Candidates {
		get(c.Name, c.Offers[len(c.Offers)-1].From).offers = newest(c.Offers, max(most/len(l.Candidates), 10), &p.older)
	}
	for _, s := range p.l.Spans {
		get(s.Holder, s.From).leads = s.Until.IsZero()
	}
	for _, m := range p.l.Marks {
		if m.Candidate != "" {
			get(m.Candidate, m.Time)
		}
	}
	if len(p.rows) > maxRows {
		byNews := slices.Clone(p.rows)
		slices.SortStableFunc(byNews, func(a, b *row) int { return b.latest.Compare(a.latest) })
		for _, r := range byNews[maxRows:] {
			if !r.leads {
				delete(p.byName, r.name)
				p.left++
			}
		}
		p.rows = slices.DeleteFunc(p.rows, func(r *row) bool { return p.byName[r.name] == nil })
	}
	for i, r := range p.rows {
		r.class = fmt.Sprintf("h%d", i%8)
	}
	return p
}

func (p *panel) height() float64 {
	return headHeight + laneHeight + float64(len(p.rows))*rowHeight + axisHeight
}

// draw draws a panel from top downwards.
func (p *panel) draw(top float64) {
	p.head(top)
	lane := top + headHeight
	bottom := lane + laneHeight + float64(len(p.rows))*rowHeight
	for i, r := range p.rows {
		y := lane + laneHeight + float64(i)*rowHeight
		if r.y = y + rowHeight/2; i%2 == 0 {
			p.rect(margin/2, y, width-margin, rowHeight, "stripe")
		}
		p.label(r)
	}
	p.axis(lane, bottom)
	p.text(margin, lane+laneHeight/2+4, "dim", "leader")
	for _, g := range p.l.Gaps {
		p.drawGap(g, lane, bottom)
	}
	for _, r := range p.rows {
		p.drawOffers(r)
	}
	for i, s := range p.l.Spans {
		r := p.byName[s.Holder]
		if r == nil {
			p.bar(s, "hx", lane+laneHeight/2, false)
			continue
		}
		p.bar(s, r.class, lane+laneHeight/2, false)
		p.bar(s, r.class, r.y, true)
		if i > 0 && p.l.Spans[i-1].Holder != s.Holder {
			p.drawHandover(p.l.Spans[i-1], s)
		}
	}
	for _, m := range p.l.Marks {
		y := lane + laneHeight/2
		if m.Candidate != "" {
			r := p.byName[m.Candidate]
			if r == nil {
				continue
			}
			y = r.y
		}
		p.open(strings.TrimSpace(m.Candidate+" "+m.What()) + ", " + clock(m.Time, m.Time))
		p.glyph(string(m.Type), p.x(m.Time), y)
		p.close()
	}
}

// head writes the name of the lease, its summary, and a note about omitted parts.
func (p *panel) head(top float64) {
	summary := p.all.summary()
	if p.left > 0 {
		summary += fmt.Sprintf(", %d of them not drawn", p.left)
	}
	if p.older > 0 {
		summary += ", " + count(p.older, "older item") + " not drawn"
	}
	name := fit(p.l.Namespace+"/"+p.l.Name, 60)
	p.open(p.l.Namespace + "/" + p.l.Name + ": " + summary)
	p.printf(`<text x="%s" y="%s" class="name">%s<tspan class="dim" dx="12">%s</tspan></text>`,
		px(margin), px(top+19), escape(name), escape(fit(summary, 165-1.5*float64(utf8.RuneCountInString(name)))))
	p.close()
}

// label writes the name and versions of a row.
func (p *panel) label(r *row) {
	class, title, right := "who", r.name, ""
	switch {
	case p.all.isPlain():
		sum, n := p.all.Led(r.name, p.until)
		right = Round(sum).String()
		title += ", led " + right + " in " + count(n, "term")
	case len(r.offers) == 0:
		class, title, right = "who guest", r.name+", which is no candidate", "no candidate"
	default:
		o := r.offers[len(r.offers)-1]
		if right = o.BinaryVersion; o.EmulationVersion != "" && o.EmulationVersion != o.BinaryVersion {
			right += " as " + o.EmulationVersion
		}
		title += versions(o)
		if sum, n := p.all.Led(r.name, p.until); n > 0 {
			title += fmt.Sprintf(", led %s in %s", Round(sum), count(n, "term"))
		}
	}
	if r.leads {
		class += " leads"
	}
	p.open(title)
	right = fit(right, 22)
	p.printf(`<circle cx="%s" cy="%s" r="4" class="%s"/>`, px(margin+2), px(r.y), r.class)
	p.printf(`<text x="%s" y="%s" class="%s">%s</text>`, px(margin+12), px(r.y+4), class, escape(fit(r.name, 30-0.8*float64(utf8.RuneCountInString(right)))))
	if right != "" {
		p.printf(`<text x="%s" y="%s" class="dim end">%s</text>`, px(plotLeft-10), px(r.y+4), escape(right))
	}
	p.close()
}

// drawGap draws a time without a leader, in the lane and pale down to the bottom.
func (p *panel) drawGap(g Gap, lane, bottom float64) {
	until := orUntil(g.Until, p.until)
	x, lasts := p.x(g.From), Round(until.Sub(g.From)).String()
	w := max(p.x(until)-x, 0.7)
	p.open("nobody leads: " + clock(g.From, g.Until) + ", " + lasts)
	p.rect(x, lane+5, w, bottom-lane-5, "gap")
	p.rect(x, lane+5, w, laneHeight-10, "gaplane")
	p.inside(x, w, lane+laneHeight/2, lasts)
	p.close()
}

// inside writes a text into a bar if there is room.
func (p *panel) inside(x, w, y float64, text string) {
	if w > 9+6.5*float64(len(text)) {
		p.printf(`<text x="%s" y="%s" class="inbar">%s</text>`, px(x+w/2), px(y+3.5), escape(text))
	}
}

// drawOffers draws the times in which a candidate existed, and where it changed its
// versions.
func (p *panel) drawOffers(r *row) {
	for i, o := range r.offers {
		x := p.x(o.From)
		p.open(r.name + versions(o) + ", " + clock(o.From, o.Until))
		p.rect(x, r.y-1, max(p.x(orUntil(o.Until, p.until))-x, 1), 2, "offer")
		if i > 0 && r.offers[i-1].Until.Equal(o.From) {
			p.rect(x-1.5, r.y-9, 3, 18, "change")
		}
		p.close()
	}
}

// bar draws a span: solid from the first to the last write of the holder, pale before
// and after.
func (p *panel) bar(s Span, class string, y float64, labelled bool) {
	const h = 12.0
	until := orUntil(s.Until, p.until)
	title := fmt.Sprintf("%s %s: %s, %s", s.Holder, s.What(), clock(s.From, s.Until), Round(until.Sub(s.From)))
	if !s.LastRenewed.IsZero() {
		title += ", last renewed at " + clock(s.LastRenewed, s.LastRenewed)
	}
	p.open(title)
	defer p.close()
	p.rect(p.x(s.From), y-h/2, max(p.x(until)-p.x(s.From), 1.5), h, class+" pale")
	if s.TakenUp.IsZero() {
		return
	}
	x := p.x(s.TakenUp)
	w := max(p.x(s.LastRenewed)-x, 1.5)
	p.rect(x, y-h/2, w, h, class)
	if labelled {
		p.inside(x, w, y, Round(s.LastRenewed.Sub(s.TakenUp)).String())
	}
}

// drawHandover draws an arrow from the end of a span to the beginning of the
// next one: along the time in which nobody led, then over to the other row.
func (p *panel) drawHandover(from, to Span) {
	a, b := p.byName[from.Holder], p.byName[to.Holder]
	if a == nil {
		return
	}
	x0, x1 := p.x(orUntil(from.Until, to.From)), p.x(to.From)
	tip, side := b.y-6, -5.0
	if b.y < a.y {
		tip, side = b.y+6, 5.0
	}
	p.open(fmt.Sprintf("from %s, %s, to %s, %s", from.Holder, from.Ended, to.Holder, to.Began))
	p.path("hand", "M%s %sH%sV%s", x0, a.y, x1, tip+side)
	p.path("tip", "M%s %sL%s %sL%s %sZ", x1, tip, x1-4, tip+side*1.4, x1+4, tip+side*1.4)
	p.close()
}

// clock formats a period: as one time if it has no length, with "since" if it has no end.
func clock(from, until time.Time) string {
	const form = "15:04:05.000"
	switch {
	case until.Equal(from):
		return from.UTC().Format(form)
	case until.IsZero():
		return "since " + from.UTC().Format(form)
	}
	return from.UTC().Format(form) + " to " + until.UTC().Format(form)
}

// A sign stands for a mark, or in the legend for another shape. Its path begins at the
// middle of the row.
type sign struct{ key, class, path, text string }

// signs are in the order of the legend.
var signs = []sign{
	{"", "h0", "m-10 -6h20v12h-20z", "leads"},
	{"", "h0 pale", "m-10 -6h20v12h-20z", "holds the lease, not renewed"},
	{"", "gaplane", "m-10 -6h20v12h-20z", "nobody leads"},
	{"", "hand", "m-8 -4h12v10", "hand-over"},
	{"", "offer", "m-10 -1h20v2h-20z", "is a candidate"},
	{string(candidate.Elected), "elect", "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0", "elected"},
	{string(candidate.Preferred), "prefer", "m0 -6l5 6l-5 6l-5 -6z", "preferred to the holder"},
	{string(candidate.Pinged), "ping", "m-1 -10h2v8h-2z", "ping"},
	{string(candidate.Answered), "answer", "m-1 2h2v8h-2z", "answer"},
	{string(candidate.Silent), "silent", "m-4 -4l8 8m0 -8l-8 8", "no answer"},
	{string(candidate.Missed), "missed", "m-5 -5h10l-5 9z", "elected, lease not taken up"},
	{string(candidate.Collected), "collected", "m-4 -4h8v8h-8z", "deleted, did not renew"},
	{string(candidate.Failed), "failed", "m0 -8l8 14h-16z", "nobody can be elected"},
	{"", "other", "m0 -10v20", "any other event"},
}

// plainSigns is how many of the signs, from the first on, an election without a coordinator has.
const plainSigns = 4

// glyph draws the sign of a mark. Marks without a sign of their own have the last one.
func (c *canvas) glyph(key string, x, y float64) {
	i := slices.IndexFunc(signs, func(s sign) bool { return s.key == key && key != "" })
	if i < 0 {
		i = len(signs) - 1
	}
	c.sign(signs[i], x, y)
}

func (c *canvas) sign(s sign, x, y float64) { c.path(s.class, "M%s %s"+s.path, x, y) }

// legend draws signs and returns the height that they take. It only measures if c is
// nil.
func (c *canvas) legend(top float64, signs []sign) float64 {
	x, y := margin, 0.0
	for _, s := range signs {
		need := 26 + 6.3*float64(len(s.text)) + 18
		if x+need > width-margin {
			x, y = margin, y+22
		}
		if c != nil {
			c.sign(s, x+10, top+y+8)
			c.text(x+26, top+y+12, "key", s.text)
		}
		x += need
	}
	return y + 30
}
