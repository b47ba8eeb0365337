package timeline

import (
	"slices"
	"time"
)

// Last returns the end of a Timeline, of the given duration, without empty Leases.
func (t Timeline) Last(d time.Duration) Timeline {
	from := t.Until.Add(-d)
	if d <= 0 || !from.After(t.From) {
		return t
	}
	part := Timeline{From: from, Until: t.Until, Forgotten: t.Forgotten, Leases: make([]Lease, 0, len(t.Leases))}
	for _, l := range t.Leases {
		lasts := func(until time.Time) bool { return until.IsZero() || until.After(from) }
		l.Spans = slices.DeleteFunc(slices.Clone(l.Spans), func(s Span) bool { return !lasts(s.Until) })
		l.Gaps = slices.DeleteFunc(slices.Clone(l.Gaps), func(g Gap) bool { return !lasts(g.Until) })
		l.Marks = slices.DeleteFunc(slices.Clone(l.Marks), func(m Mark) bool { return m.Time.Before(from) })
		l.Candidates = slices.Clone(l.Candidates)
		for i, c := range l.Candidates {
			l.Candidates[i].Offers = slices.DeleteFunc(slices.Clone(c.Offers), func(o Offer) bool { return !lasts(o.Until) })
		}
		l.Candidates = slices.DeleteFunc(l.Candidates, func(c Candidate) bool { return len(c.Offers) == 0 })
		if len(l.Spans)+len(l.Gaps)+len(l.Marks)+len(l.Candidates) > 0 {
			part.Leases = append(part.Leases, l)
		}
	}
	return part
}

// Only returns a Timeline with only the given Lease.
func (t Timeline) Only(namespace, name string) Timeline {
	t.Leases = slices.DeleteFunc(slices.Clone(t.Leases), func(l Lease) bool { return l.Namespace != namespace || l.Name != name })
	return t
}
