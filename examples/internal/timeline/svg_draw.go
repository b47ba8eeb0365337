package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// draw draws a panel from top downwards.
func (p *panel) draw(top float64) {
	name, summary := fit(p.l.Namespace+"/"+p.l.Name, 60), p.l.summary()
	p.open(p.l.Namespace + "/" + p.l.Name + ": " + summary)
	p.printf(`<text x="%s" y="%s" class="name">%s<tspan class="dim" dx="12">%s</tspan></text>`,
		px(margin), px(top+19), escape(name), escape(fit(summary, 165-1.5*float64(utf8.RuneCountInString(name)))))
	p.close()
	if omissions := p.omissions(); omissions != "" {
		p.text(margin, top+36, "dim", omissions)
	}
	lane := top + p.headHeight()
	y := lane + laneHeight
	bottom := y + float64(len(p.rows))*p.rowHeight
	for i, r := range p.rows {
		if i%2 == 0 {
			p.rect(margin/2, y+float64(i)*p.rowHeight, width-margin, p.rowHeight, "stripe")
		}
		p.label(r, p.middle(y, i))
	}
	p.axis(lane, bottom)
	p.drawLane(lane, bottom)
	middle := map[*row]float64{}
	for i, r := range p.rows {
		middle[r] = p.middle(y, i)
		p.drawOffers(r, middle[r])
	}
	for _, r := range p.rows {
		for _, s := range r.spanShapes {
			p.bar(r, s, middle[r], true)
		}
		p.drawChanges(r, middle[r])
	}
	for _, h := range p.handovers {
		p.drawHandover(h, middle[h.a], middle[h.b])
	}
	for _, r := range p.rows {
		p.drawMarks(r, middle[r])
	}
}

func (p *panel) middle(top float64, i int) float64 { return top + (float64(i)+0.5)*p.rowHeight }

// label writes the name and versions of a row.
func (p *panel) label(r *row, y float64) {
	class, title, right := "who", r.name, ""
	switch {
	case r.others > 0:
		class, title = "who dim", count(r.others, "candidate")+" that there is no room for"
	case r.notCandidate:
		class, title, right = "who guest", r.name+", which is no candidate", "no candidate"
	default:
		o := r.offers[len(r.offers)-1]
		if right = o.BinaryVersion; o.EmulationVersion != "" && o.EmulationVersion != o.BinaryVersion {
			right += " as " + o.EmulationVersion
		}
		title += versions(o)
		if sum, n := p.l.Led(r.name, p.until); n > 0 {
			title += fmt.Sprintf(", led %s in %s", Round(sum), count(n, "term"))
		}
	}
	if r.leads {
		class += " leads"
	}
	p.open(title)
	right = fit(right, 22)
	p.printf(`<circle cx="%s" cy="%s" r="4" class="h%d"/>`, px(margin+2), px(y), r.index)
	p.printf(`<text x="%s" y="%s" class="%s">%s</text>`, px(margin+12), px(y+4), class, escape(fit(r.name, 30-0.8*float64(utf8.RuneCountInString(right)))))
	if right != "" {
		p.printf(`<text x="%s" y="%s" class="dim end">%s</text>`, px(plotLeft-10), px(y+4), escape(right))
	}
	p.close()
}

// drawLane draws the leaders at the top of a panel, and the gaps from top to bottom.
func (p *panel) drawLane(top, bottom float64) {
	p.text(margin, top+laneHeight/2+4, "dim", "leader")
	for _, r := range p.rows {
		for _, s := range r.spanShapes {
			p.bar(r, s, top+laneHeight/2, false)
		}
	}
	for _, s := range p.gapShapes {
		g := p.l.Gaps[s.items[0]]
		title := fmt.Sprintf("nobody leads: %s, %s", clock(g.From, g.Until), Round(orUntil(g.Until, p.until).Sub(g.From)))
		if len(s.items) > 1 {
			var sum time.Duration
			for _, i := range s.items {
				sum += orUntil(p.l.Gaps[i].Until, p.until).Sub(p.l.Gaps[i].From)
			}
			title = fmt.Sprintf("nobody leads: %s, %s in sum", count(len(s.items), "time"), Round(sum))
		}
		w := max(s.x1-s.x0, 0.7)
		p.open(title)
		p.rect(s.x0, top+5, w, bottom-top-5, "gap")
		p.rect(s.x0, top+5, w, laneHeight-10, "gaplane")
		if text := Round(orUntil(g.Until, p.until).Sub(g.From)).String(); len(s.items) == 1 && w > 8+6.5*float64(len(text)) {
			p.printf(`<text x="%s" y="%s" class="inbar">%s</text>`, px(s.x0+w/2), px(top+laneHeight/2+3.5), escape(text))
		}
		p.close()
	}
	for _, s := range p.freeMarkShapes {
		m := p.freeMarks[s.items[0]]
		p.open(markTitle(p.freeMarks, s))
		p.glyph(m.Type, s, top+laneHeight/2, 9)
		p.close()
	}
}

func (r *row) colour() string {
	if r.others > 0 {
		return "hx"
	}
	return fmt.Sprintf("h%d", r.index)
}

// drawOffers draws the times in which a candidate existed.
func (p *panel) drawOffers(r *row, y float64) {
	for _, s := range r.offerShapes {
		o := r.offers[s.items[0]]
		title := r.name + versions(o) + ", " + clock(o.From, o.Until)
		if len(s.items) > 1 {
			title = fmt.Sprintf("%s: %s", r.name, count(len(s.items), "offer"))
		}
		p.open(title)
		p.rect(s.x0, y-1, max(s.x1-s.x0, 1), 2, "offer")
		p.close()
	}
}

// bar draws a span: solid from the first to the last write of the holder, pale before
// and after.
func (p *panel) bar(r *row, st cluster, y float64, labelled bool) {
	const h = 12.0
	s := r.spans[st.items[0]]
	w := max(st.x1-st.x0, 1.5)
	p.open(r.spanTitle(st, p.until))
	defer p.close()
	if len(st.items) > 1 {
		p.rect(st.x0, y-h/2, w, h, r.colour()+" many")
		return
	}
	p.rect(st.x0, y-h/2, w, h, r.colour()+" pale")
	if s.TakenUp.IsZero() {
		return
	}
	x0, x1 := p.x(s.TakenUp), p.x(s.LastRenewed)
	solid := max(x1-x0, 1.5)
	p.rect(x0, y-h/2, solid, h, r.colour())
	if text := Round(s.LastRenewed.Sub(s.TakenUp)).String(); labelled && solid > 10+6.5*float64(len(text)) {
		p.printf(`<text x="%s" y="%s" class="inbar">%s</text>`, px(x0+solid/2), px(y+3.5), escape(text))
	}
}

// drawChanges marks where a candidate changed its versions.
func (p *panel) drawChanges(r *row, y float64) {
	for n, s := range r.offerShapes {
		o := r.offers[s.items[0]]
		if n == 0 || r.others > 0 || !r.offers[s.items[0]-1].Until.Equal(o.From) {
			continue
		}
		p.open(r.name + " changes its offer" + versions(o) + ", " + clock(o.From, o.From))
		p.rect(s.x0-1.5, y-9, 3, 18, "change")
		p.close()
	}
}

// spanTitle describes the spans of one bar.
func (r *row) spanTitle(st cluster, until time.Time) string {
	s := r.spans[st.items[0]]
	if len(st.items) == 1 {
		title := fmt.Sprintf("%s %s: %s, %s", s.Holder, s.What(), clock(s.From, s.Until), Round(orUntil(s.Until, until).Sub(s.From)))
		if !s.LastRenewed.IsZero() {
			title += ", last renewed at " + clock(s.LastRenewed, s.LastRenewed)
		}
		return title
	}
	var sum time.Duration
	for _, i := range st.items {
		sum += orUntil(r.spans[i].Until, until).Sub(r.spans[i].From)
	}
	return fmt.Sprintf("%s: %s, %s in sum", r.name, count(len(st.items), "term"), Round(sum))
}

// drawHandover draws an arrow from the end of a span to the beginning of the
// next one: along the time in which nobody led, then over to the other row.
func (p *panel) drawHandover(h handover, ya, yb float64) {
	x0, x1 := p.x(orUntil(h.from.Until, h.to.From)), p.x(h.to.From)
	tip, side := yb-6, -5.0
	if yb < ya {
		tip, side = yb+6, 5.0
	}
	p.open(fmt.Sprintf("from %s, %s, to %s, %s", h.from.Holder, h.from.Ended, h.to.Holder, h.to.Began))
	p.path("hand", "M%s %sH%sV%s", x0, ya, x1, tip+side)
	p.path("tip", "M%s %sL%s %sL%s %sZ", x1, tip, x1-4, tip+side*1.4, x1+4, tip+side*1.4)
	p.close()
}

// drawMarks draws the marks of a candidate.
func (p *panel) drawMarks(r *row, y float64) {
	for _, t := range slices.Sorted(maps.Keys(r.markShapes)) {
		for _, s := range r.markShapes[t] {
			p.open(markTitle(r.marks[t], s))
			p.glyph(t, s, y, p.rowHeight/2-4)
			p.close()
		}
	}
}

func markTitle(marks []Mark, s cluster) string {
	m, last := marks[s.items[0]], marks[s.items[len(s.items)-1]]
	who := cmp.Or(m.Candidate, "")
	if len(s.items) == 1 {
		return strings.TrimSpace(who+" "+m.What()) + ", " + clock(m.Time, m.Time)
	}
	for _, i := range s.items {
		if marks[i].Candidate != who {
			who = "several"
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", who, m.What())) + fmt.Sprintf(", %s, %s", count(len(s.items), "time"), clock(m.Time, last.Time))
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
