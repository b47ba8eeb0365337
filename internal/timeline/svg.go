package timeline

import (
	"bufio"
	_ "embed" // for style
	"fmt"
	"io"
	"slices"
	"time"
)

// Bounds of a picture. What does not fit is left out, the oldest first, and the
// picture says so.
const (
	maxPanels = 20   // leases
	maxRows   = 30   // candidates of a lease
	maxItems  = 4000 // spans, gaps and marks each, of all panels together
)

// Measures of a picture, in pixels.
const (
	width      = 1120.0
	margin     = 16.0
	plotLeft   = 272.0
	plotRight  = width - margin
	headHeight = 30.0 // of the name and summary of a panel
	laneHeight = 22.0 // of the row that shows the leader
	rowHeight  = 24.0
	axisHeight = 24.0
	panelSpace = 22.0
)

//go:embed svg_style.css
var style string

// Style returns the style sheet in every picture, for pages that allow style sheets only by
// their hash.
func Style() string { return style }

// SVG draws a Timeline as one picture without scripts, fonts or other resources. It is
// readable on light and dark backgrounds. Its size is bounded for any Timeline.
func SVG(w io.Writer, t Timeline) error {
	c := &canvas{w: bufio.NewWriter(w), from: t.From, until: t.Until}
	if !c.until.After(c.from) {
		c.until = c.from.Add(time.Second)
	}
	leases, left := latestLeases(t.Leases)
	panels := make([]*panel, len(leases))
	notes, top := t.notes(left), 48.0
	used := signs
	if !slices.ContainsFunc(leases, func(l Lease) bool { return !l.isPlain() }) {
		used = signs[:plainSigns]
	}
	if len(leases) > 0 {
		top += (*canvas)(nil).legend(0, used)
	}
	height := top + 18*float64(len(notes)) + margin
	for i := range leases {
		panels[i] = newPanel(c, &leases[i], max(maxItems/len(leases), 200))
		height += panels[i].height() + panelSpace
	}
	if len(leases) == 0 {
		height += 60
	}

	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="kc" role="img" viewBox="0 0 %s %s" width="%s" height="%s" aria-label="%s">`+"\n",
		px(width), px(height), px(width), px(height), escape("Elections of "+count(len(t.Leases), "lease")+", "+c.period()))
	c.printf("<style>%s</style>\n", style)
	c.printf(`<rect class="ground" width="%s" height="%s"/>`+"\n", px(width), px(height))
	c.text(margin, 30, "title", "Elections")
	c.text(margin+112, 30, "dim", c.period())
	y := top
	if len(leases) == 0 {
		c.text(margin, y+30, "", "No lease with a holder or a candidate was seen yet.")
		y += 60
	} else {
		c.legend(48, used)
	}
	for _, p := range panels {
		p.draw(y)
		y += p.height() + panelSpace
	}
	for _, note := range notes {
		c.text(margin, y, "dim", note)
		y += 18
	}
	c.printf("</svg>\n")
	return c.w.Flush()
}

// latestLeases returns the leases to draw, and the number of leases left out. If there
// are too many, it chooses the leases that changed last.
func latestLeases(all []Lease) (some []Lease, left int) {
	if len(all) <= maxPanels {
		return all, 0
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return all[b].latest().Compare(all[a].latest()) })
	order = order[:maxPanels]
	slices.Sort(order)
	for _, i := range order {
		some = append(some, all[i])
	}
	return some, len(all) - maxPanels
}

// latest returns the time of the last change of a lease that is not a renewal.
func (l *Lease) latest() (t time.Time) {
	later := func(at time.Time) {
		if at.After(t) {
			t = at
		}
	}
	if n := len(l.Spans); n > 0 {
		later(l.Spans[n-1].From)
		later(l.Spans[n-1].Until)
	}
	if n := len(l.Marks); n > 0 {
		later(l.Marks[n-1].Time)
	}
	for _, c := range l.Candidates {
		o := c.Offers[len(c.Offers)-1]
		later(o.From)
		later(o.Until)
	}
	return t
}

// notes lists the parts that the picture omits.
func (t Timeline) notes(left int) (notes []string) {
	if left > 0 {
		notes = append(notes, are(left, "more lease")+" not drawn, with older news.")
	}
	if t.Forgotten > 0 {
		notes = append(notes, are(t.Forgotten, "older record")+" forgotten: memory is bounded.")
	}
	return notes
}

func are(n int, what string) string {
	if n == 1 {
		return count(n, what) + " is"
	}
	return count(n, what) + " are"
}

// canvas is a picture that is being written, with its scale of time.
type canvas struct {
	w           *bufio.Writer
	from, until time.Time
}

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(c.w, format, args...) }

// x returns the position of a time. A time outside of the picture is at its edge.
func (c *canvas) x(t time.Time) float64 {
	part := float64(t.Sub(c.from)) / float64(c.until.Sub(c.from))
	return plotLeft + min(max(part, 0), 1)*(plotRight-plotLeft)
}

// px formats a measure with at most one decimal.
func px(v float64) string {
	s := fmt.Sprintf("%.1f", v)
	if s[len(s)-2:] == ".0" {
		return s[:len(s)-2]
	}
	return s
}

func (c *canvas) text(x, y float64, class, text string) {
	c.printf(`<text x="%s" y="%s" class="%s">%s</text>`+"\n", px(x), px(y), class, escape(text))
}

// open begins a group with a tooltip.
func (c *canvas) open(title string) { c.printf("<g><title>%s</title>", escape(short(title, 800))) }
func (c *canvas) close()            { c.printf("</g>\n") }

func (c *canvas) rect(x, y, w, h float64, class string) {
	c.printf(`<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>`, px(x), px(y), px(w), px(h), class)
}

func (c *canvas) path(class, format string, args ...float64) {
	text := make([]any, len(args))
	for i, a := range args {
		text[i] = px(a)
	}
	c.printf(`<path class="%s" d="%s"/>`, class, fmt.Sprintf(format, text...))
}

// period describes the period that the picture covers.
func (c *canvas) period() string {
	until := "15:04:05"
	if c.from.UTC().Format(time.DateOnly) != c.until.UTC().Format(time.DateOnly) {
		until = "2006-01-02 15:04:05"
	}
	return fmt.Sprintf("%s to %s UTC, %s", c.from.UTC().Format("2006-01-02 15:04:05"), c.until.UTC().Format(until), Round(c.until.Sub(c.from)))
}
