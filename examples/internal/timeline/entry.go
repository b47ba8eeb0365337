package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/lease"
)

// entry is what a Recorder knows of one lease.
type entry struct {
	place
	observed  lease.Observation
	known     bool   // the lease, or its absence, was seen
	exists    bool   // there is a Lease
	version   uint64 // of what was seen
	strategy  string
	preferred string // preferredHolder
	heir      string // whom the last holder made way for

	span   *Span             // who holds it now, or nil
	gap    *Gap              // nobody does, or nil
	offers map[string]*Offer // of the candidates that are there

	records   []record // what is over, the oldest first
	stale     int      // how many of its places in the queue stand for nothing
	forgotten int
}

// record is something that is over: a Span, a Gap, a Mark or a pastOffer.
type record any

// pastOffer is an Offer that is no longer made.
type pastOffer struct {
	candidate string
	Offer
}

// state is what was known of a lease at one moment. Records never change, so that
// it shares them.
type state struct {
	Lease
	records []record
	offers  []pastOffer // that last
}

func (e *entry) state() state {
	s := state{
		Lease:   Lease{Namespace: e.namespace, Name: e.name, Strategy: e.strategy, Forgotten: e.forgotten},
		records: e.records, offers: make([]pastOffer, 0, len(e.offers)),
	}
	for name, o := range e.offers {
		s.offers = append(s.offers, pastOffer{name, *o})
	}
	if e.span != nil {
		s.Spans = []Span{*e.span}
	}
	if e.gap != nil {
		s.Gaps = []Gap{*e.gap}
	}
	return s
}

// lease puts in order what is known.
func (s state) lease() Lease {
	l := s.Lease
	l.Spans, l.Gaps = nil, nil
	index := make(map[string]int, len(s.offers))
	offer := func(p pastOffer) {
		i, found := index[p.candidate]
		if !found {
			i = len(l.Candidates)
			index[p.candidate] = i
			l.Candidates = append(l.Candidates, Candidate{Name: p.candidate})
		}
		l.Candidates[i].Offers = append(l.Candidates[i].Offers, p.Offer)
	}
	for _, rec := range s.records {
		switch rec := rec.(type) {
		case Span:
			l.Spans = append(l.Spans, rec)
		case Gap:
			l.Gaps = append(l.Gaps, rec)
		case Mark:
			l.Marks = append(l.Marks, rec)
		case pastOffer:
			offer(rec)
		}
	}
	for _, o := range s.offers {
		offer(o)
	}
	l.Spans, l.Gaps = append(l.Spans, s.Spans...), append(l.Gaps, s.Gaps...)
	slices.SortFunc(l.Candidates, func(a, b Candidate) int {
		return cmp.Or(a.Offers[0].From.Compare(b.Offers[0].From), strings.Compare(a.Name, b.Name))
	})
	return l
}

// isIdle tells whether there is nothing about a lease that could go on.
func (e *entry) isIdle() bool { return !e.exists && len(e.offers) == 0 && len(e.records) == 0 }

// see takes in a state of the lease, nil where there is none. skew is what turns
// times of the store's clock into those of the Recorder.
func (r *Recorder) see(e *entry, l *lease.Lease, skew time.Duration) {
	now := r.now()
	r.lapse(e, now)
	at, before := now, e.preferred
	if !e.known && l != nil && l.Spec.RenewTime != nil {
		if renewed := l.Spec.RenewTime.Add(skew); renewed.Before(now) {
			at = renewed // one that is found is as old as it says
		}
	}
	found := !e.known && (r.finding || l != nil && l.Spec.Strategy == nil)
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

// ending tells why a span ends that has not run out, by who has the lease now.
// preferred is whom the holder was to make way for.
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

// beginning tells how the holder of a lease became it. A coordinator clears
// acquireTime, and holders that know of a strategy leave it so. heir is whom the
// last holder was asked to make way for.
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

// lapse ends the present span if the lease has run out.
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

// leaderless begins a gap, or ends it where nobody wants the lease any more.
func (r *Recorder) leaderless(e *entry, at time.Time) {
	switch wanted := e.exists || len(e.offers) > 0; {
	case e.span != nil:
	case wanted && e.gap == nil:
		e.gap = &Gap{From: at}
	case !wanted:
		r.endGap(e, at)
	}
}
