package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/lease"
)

// entry has the records of one Lease.
type entry struct {
	namespacedName
	observed  lease.Observation
	known     bool   // see was called
	exists    bool   // there is a Lease
	version   uint64 // of the last state
	strategy  string
	preferred string // preferredHolder
	heir      string // preferredHolder at the end of the last span

	span   *Span             // the current holder, or nil
	gap    *Gap              // the current gap, or nil
	offers map[string]*Offer // of the current candidates

	records   int // number of kept records
	forgotten int
}

// pastOffer is an Offer with the name of its candidate.
type pastOffer struct {
	candidate string
	Offer
}

// lease returns the records of an entry by type.
func (e *entry) lease(records []any) Lease {
	l := Lease{Namespace: e.namespace, Name: e.name, Strategy: e.strategy, Forgotten: e.forgotten}
	index := make(map[string]int, len(e.offers))
	offer := func(name string, o Offer) {
		i, found := index[name]
		if !found {
			i = len(l.Candidates)
			index[name] = i
			l.Candidates = append(l.Candidates, Candidate{Name: name})
		}
		l.Candidates[i].Offers = append(l.Candidates[i].Offers, o)
	}
	for _, rec := range records {
		switch rec := rec.(type) {
		case Span:
			l.Spans = append(l.Spans, rec)
		case Gap:
			l.Gaps = append(l.Gaps, rec)
		case Mark:
			l.Marks = append(l.Marks, rec)
		case pastOffer:
			offer(rec.candidate, rec.Offer)
		}
	}
	for name, o := range e.offers {
		offer(name, *o)
	}
	if e.span != nil {
		l.Spans = append(l.Spans, *e.span)
	}
	if e.gap != nil {
		l.Gaps = append(l.Gaps, *e.gap)
	}
	slices.SortFunc(l.Candidates, func(a, b Candidate) int {
		return cmp.Or(a.Offers[0].From.Compare(b.Offers[0].From), strings.Compare(a.Name, b.Name))
	})
	return l
}

// see adds a state of the Lease, nil if there is none. skew is the difference between
// the Recorder's time and the store's clock.
func (r *Recorder) see(e *entry, l *lease.Lease, skew time.Duration) {
	now := r.now()
	r.lapse(e, now)
	at, before := now, e.preferred
	if !e.known && l != nil && l.Spec.RenewTime != nil {
		if renewed := l.Spec.RenewTime.Add(skew); renewed.Before(now) {
			at = renewed // the Lease is older than the recording: trust its time
		}
	}
	found := !e.known && l != nil && number(l.ResourceVersion) <= r.start
	e.known, e.exists, e.preferred = true, l != nil, ""
	if l != nil {
		if l.Spec.PreferredHolder != nil {
			e.preferred = bounded(*l.Spec.PreferredHolder)
		}
		if l.Spec.Strategy != nil {
			e.strategy = string(*l.Spec.Strategy)
		}
	}
	if !e.observed.Observe(l, at) && e.span != nil {
		return
	}
	holder := bounded(e.observed.Holder())
	leads := !e.observed.Expired(now)
	if leads && e.span != nil && e.span.Holder == holder {
		e.span.renew(now)
		return
	}
	if e.span != nil {
		r.endSpan(e, now, e.ending(holder, before), before)
	}
	if !leads {
		r.leaderless(e, now)
		return
	}
	r.endGap(e, now)
	e.span = &Span{Holder: holder, From: now, Began: beginning(l, found, e.heir)}
	if e.span.Began == Acquired || e.span.Began == Found {
		e.span.TakenUp, e.span.LastRenewed = now, now
	}
}

func (s *Span) renew(now time.Time) {
	s.LastRenewed = now
	if s.TakenUp.IsZero() {
		s.TakenUp = now
	} else {
		s.Renewals++
	}
}

// ending returns why a span ends before the Lease has expired. holder is the new holder,
// preferred the last preferredHolder.
func (e *entry) ending(holder, preferred string) Ending {
	switch {
	case !e.exists:
		return Deleted
	case preferred != "":
		return HandedOver
	case holder == "":
		return Released
	}
	return Replaced
}

// beginning returns how the holder got the Lease. A coordinator clears acquireTime, and
// coordinated holders leave it empty. heir is the preferredHolder before.
func beginning(l *lease.Lease, found bool, heir string) Beginning {
	switch {
	case found:
		return Found
	case l.Spec.Strategy == nil || l.Spec.AcquireTime != nil:
		return Acquired
	case heir != "" && heir == bounded(*l.Spec.HolderIdentity):
		return Preferred
	}
	return Elected
}

// lapse ends the current span if the Lease has expired.
func (r *Recorder) lapse(e *entry, now time.Time) {
	if e.span == nil || !e.observed.Expired(now) {
		return
	}
	ended, why := e.observed.Expires(), Expired
	if e.preferred != "" {
		why = HandedOver
	}
	if ended.Before(e.span.From) {
		ended = e.span.From
	}
	r.endSpan(e, ended, why, e.preferred)
	r.leaderless(e, ended)
}

func (r *Recorder) endSpan(e *entry, at time.Time, why Ending, heir string) {
	s := *e.span
	s.Until, s.Ended = at, why
	e.span, e.heir = nil, heir
	r.keep(e, s)
}

func (r *Recorder) endGap(e *entry, at time.Time) {
	if e.gap != nil {
		g := *e.gap
		g.Until = at
		e.gap = nil
		if at.After(g.From) {
			r.keep(e, g)
		}
	}
}

// leaderless begins a gap, or ends it if there is neither a Lease nor a candidate.
func (r *Recorder) leaderless(e *entry, at time.Time) {
	switch wanted := e.exists || len(e.offers) > 0; {
	case e.span != nil:
	case wanted && e.gap == nil:
		e.gap = &Gap{From: at}
	case !wanted:
		r.endGap(e, at)
	}
}
