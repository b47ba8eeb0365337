package timeline

import "time"

const day = 24 * time.Hour

// steps are the distances between the ticks of a time axis.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 364 * day, 3640 * day,
}

// maxTicks is the number of labels that fit.
const maxTicks = 9

// tick is a time on the axis, with its label.
type tick struct {
	at    time.Time
	label string
}

// ticks returns round times in a period.
func ticks(from, until time.Time) (all []tick) {
	step := steps[len(steps)-1]
	for _, s := range steps {
		if until.Sub(from) <= s*maxTicks {
			step = s
			break
		}
	}
	form := time.TimeOnly
	switch {
	case step < time.Second:
		form = "15:04:05.000"
	case step >= day:
		form = "Jan 2"
		if until.Sub(from) > 364*day {
			form = "Jan 2006"
		}
	case step >= time.Minute:
		form = "15:04"
	}
	for at := from.UTC().Truncate(step); !at.After(until) && len(all) <= maxTicks; at = at.Add(step) {
		switch midnight := at.Truncate(day).Equal(at); {
		case at.Before(from):
		case midnight && step < day:
			all = append(all, tick{at, at.Format("Jan 2")})
		default:
			all = append(all, tick{at, at.Format(form)})
		}
	}
	return all
}

// axis draws the grid of a panel and the times below it.
func (c *canvas) axis(top, bottom float64) {
	for _, t := range ticks(c.from, c.until) {
		x := c.x(t.at)
		c.path("grid", "M%s %sV%s", x, top, bottom+4)
		class := "time"
		if x > plotRight-24 {
			class = "time end"
		}
		c.text(min(x, plotRight), bottom+16, class, t.label)
	}
	c.path("frame", "M%s %sH%s", plotLeft, bottom, plotRight)
	c.text(margin, bottom+16, "dim", c.from.UTC().Format("Jan 2, 2006")+", UTC")
}
