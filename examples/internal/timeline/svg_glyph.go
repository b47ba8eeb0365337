package timeline

import "github.com/kubecoord/kubecoord/candidate"

// glyph draws the sign of a mark. A ping is above y and an answer below it; both have the
// height tick.
func (c *canvas) glyph(t candidate.ElectionEventType, s cluster, y, tick float64) {
	x := (s.x0 + s.x1) / 2
	w := max(s.x1-s.x0, 2)
	switch t {
	case candidate.Pinged:
		c.rect(x-w/2, y-2-tick, w, tick, "ping")
	case candidate.Answered:
		c.rect(x-w/2, y+2, w, tick, "answer")
	case candidate.Silent:
		c.path("silent", "M%s %sL%s %sM%s %sL%s %s", x-4, y-4, x+4, y+4, x-4, y+4, x+4, y-4)
	case candidate.Missed:
		c.path("missed", "M%s %sH%sL%s %sZ", x-5, y-5, x+5, x, y+4)
	case candidate.Preferred:
		c.path("prefer", "M%s %sL%s %sL%s %sL%s %sZ", x, y-6, x+5, y, x, y+6, x-5, y)
	case candidate.Elected:
		c.printf(`<circle cx="%s" cy="%s" r="3.2" class="elect"/>`, px(x), px(y))
	case candidate.Collected:
		c.path("collected", "M%s %sH%sV%sH%sZ", x-4, y-4, x+4, y+4, x-4)
	case candidate.Failed:
		c.path("failed", "M%s %sL%s %sH%sZ", x, y-8, x+8, y+6, x-8)
		c.printf(`<text x="%s" y="%s" class="bang">!</text>`, px(x), px(y+4.5))
	default:
		c.path("other", "M%s %sV%s", x, y-10, y+10)
	}
}

// legendEntry is shown if its key is in use.
type legendEntry struct {
	key, text string
	draw      func(c *canvas, x, y float64)
}

func legendEntries() []legendEntry {
	sign := func(t candidate.ElectionEventType, text string) legendEntry {
		down := map[candidate.ElectionEventType]float64{candidate.Pinged: 6.5, candidate.Answered: -6.5}[t]
		return legendEntry{string(t), text, func(c *canvas, x, y float64) { c.glyph(t, cluster{x0: x + 12, x1: x + 12}, y+down, 9) }}
	}
	return []legendEntry{
		{"span", "leads", func(c *canvas, x, y float64) { c.rect(x, y-6, 20, 12, "h0") }},
		{"span", "holds the lease, not renewed", func(c *canvas, x, y float64) { c.rect(x, y-6, 20, 12, "h0 pale") }},
		{"gap", "nobody leads", func(c *canvas, x, y float64) { c.rect(x, y-6, 20, 12, "gaplane") }},
		{"offer", "is a candidate", func(c *canvas, x, y float64) { c.rect(x, y-1, 20, 2, "offer") }},
		{"handover", "hand-over", func(c *canvas, x, y float64) {
			c.path("hand", "M%s %sH%sV%s", x, y-4, x+12, y+1)
			c.path("tip", "M%s %sL%s %sL%s %sZ", x+12, y+7, x+8, y, x+16, y)
		}},
		sign(candidate.Elected, "elected"),
		sign(candidate.Preferred, "preferred to the holder"),
		sign(candidate.Pinged, "ping"),
		sign(candidate.Answered, "answer"),
		sign(candidate.Silent, "no answer"),
		sign(candidate.Missed, "elected, lease not taken up"),
		sign(candidate.Collected, "deleted, did not renew"),
		sign(candidate.Failed, "nobody can be elected"),
		sign(candidate.PreferenceCleared, "holder need not make way"),
		sign(candidate.StrategySet, "strategy set"),
	}
}

const legendLine = 22.0

// placeLegend calls f with the place of each entry in use, and returns the height of the
// legend.
func placeLegend(used map[string]bool, f func(w legendEntry, x, y float64)) float64 {
	x, y := margin, 0.0
	for _, w := range legendEntries() {
		if !used[w.key] {
			continue
		}
		need := 26 + 6.3*float64(len(w.text)) + 18
		if x+need > width-margin {
			x, y = margin, y+legendLine
		}
		f(w, x, y)
		x += need
	}
	return y + legendLine
}

func (c *canvas) legendHeight(used map[string]bool) float64 {
	if len(used) == 0 {
		return 0
	}
	return placeLegend(used, func(legendEntry, float64, float64) {}) + 8
}

func (c *canvas) legend(top float64, used map[string]bool) {
	placeLegend(used, func(w legendEntry, x, y float64) {
		w.draw(c, x, top+y+8)
		c.text(x+26, top+y+12, "key", w.text)
	})
}
