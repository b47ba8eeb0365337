package timeline

import (
	"time"

	"github.com/kubecoord/kubecoord/candidate"
)

// Timeline is a snapshot of a Recorder. The Recorder does not change it later.
type Timeline struct {
	// From is when recording began, Until when the Timeline was taken.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Leases are ordered by namespace and name.
	Leases []Lease `json:"leases"`
	// Forgotten counts the spans, gaps, marks and offers that were dropped for newer
	// ones, also of Leases that are not listed any more.
	Forgotten int `json:"forgotten,omitempty"`
}

// Lease is the history of one Lease.
type Lease struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Strategy is the last one that the Lease had.
	Strategy string `json:"strategy,omitempty"`
	// Spans, Gaps and Marks are each ordered by time. No two spans overlap, and
	// no gap overlaps a span.
	Spans []Span `json:"spans,omitempty"`
	Gaps  []Gap  `json:"gaps,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
	// Candidates are sorted by their first offer, then by name.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Forgotten counts the items that are missing above.
	Forgotten int `json:"forgotten,omitempty"`
}

// Beginning is how a holder got the Lease.
type Beginning string

// The beginnings of spans.
const (
	// Elected: a coordinator chose the holder.
	Elected Beginning = "elected"
	// Preferred: a coordinator chose the holder, after it had asked the last one to
	// make way for it.
	Preferred Beginning = "preferred"
	// Acquired: the holder took the Lease.
	Acquired Beginning = "acquired"
	// Found: the holder had the Lease when recording began.
	Found Beginning = "found"
)

// Ending is how a holder lost the Lease.
type Ending string

// The endings of spans.
const (
	// Expired: the Lease expired.
	Expired Ending = "expired"
	// HandedOver: the Lease expired or was released after the holder was asked to
	// make way.
	HandedOver Ending = "handed over"
	// Released: the holder released the Lease.
	Released Ending = "released"
	// Replaced: another holder took the Lease before it expired.
	Replaced Ending = "replaced"
	// Deleted: the Lease was deleted.
	Deleted Ending = "deleted"
)

// Span is a period in which the Lease had one holder and did not expire.
type Span struct {
	Holder string    `json:"holder"`
	From   time.Time `json:"from"`
	// Until is when the holder lost the Lease; zero if it still holds the Lease.
	Until time.Time `json:"until,omitzero"`
	// TakenUp is when the holder first wrote the Lease; zero if it never did. An
	// elected holder does not lead before.
	TakenUp time.Time `json:"takenUp,omitzero"`
	// LastRenewed is when the holder last wrote the Lease; zero if it never did. From
	// then to Until the others only waited.
	LastRenewed time.Time `json:"lastRenewed,omitzero"`
	// Renewals counts the writes of the holder after TakenUp.
	Renewals int       `json:"renewals"`
	Began    Beginning `json:"began"`
	Ended    Ending    `json:"ended,omitempty"` // "" while it lasts
}

// Gap is a period without a holder in which there was a Lease or a candidate.
type Gap struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"` // zero while it lasts
}

// Mark is an event of a Coordinator.
type Mark struct {
	Time time.Time                   `json:"time"`
	Type candidate.ElectionEventType `json:"type"`
	// Candidate is the name of the candidate, or "".
	Candidate string `json:"candidate,omitempty"`
	// Text is the error of a failure, or "".
	Text string `json:"text,omitempty"`
}

// Candidate is a candidate for the Lease.
type Candidate struct {
	Name string `json:"name"`
	// Offers are sorted by time. There are several if the candidate was deleted and
	// created again, or changed its versions.
	Offers []Offer `json:"offers"`
}

// Offer is a period in which a candidate existed with the same versions.
type Offer struct {
	From             time.Time `json:"from"`
	Until            time.Time `json:"until,omitzero"` // zero while it is there
	BinaryVersion    string    `json:"binaryVersion,omitempty"`
	EmulationVersion string    `json:"emulationVersion,omitempty"`
	Strategy         string    `json:"strategy,omitempty"`
}

// Leader returns the holder of the Lease, or "".
func (l *Lease) Leader() string {
	if n := len(l.Spans); n > 0 && l.Spans[n-1].Until.IsZero() {
		return l.Spans[n-1].Holder
	}
	return ""
}

// isPlain reports whether holders take the Lease by themselves, without a coordinator.
func (l *Lease) isPlain() bool {
	return l.Strategy == "" && len(l.Candidates) == 0 && len(l.Marks) == 0
}

// Now describes the leader in words. An elected holder leads from its first write.
func (l *Lease) Now() string {
	switch holder := l.Leader(); {
	case holder == "":
		return "nobody leads"
	case l.Spans[len(l.Spans)-1].TakenUp.IsZero():
		return short(holder, 60) + " is elected"
	default:
		return short(holder, 60) + " leads"
	}
}

// Contenders returns the number of candidates and holders that are known.
func (l *Lease) Contenders() int {
	names := map[string]bool{}
	for _, c := range l.Candidates {
		names[c.Name] = true
	}
	for _, s := range l.Spans {
		names[s.Holder] = true
	}
	return len(names)
}

// Led returns how long and in how many spans a candidate held the Lease. until is the
// end of a span that has not ended.
func (l *Lease) Led(candidate string, until time.Time) (sum time.Duration, spans int) {
	for _, s := range l.Spans {
		if s.Holder == candidate {
			sum += orUntil(s.Until, until).Sub(s.From)
			spans++
		}
	}
	return sum, spans
}

// orUntil returns end, or until if end is zero.
func orUntil(end, until time.Time) time.Time {
	if end.IsZero() {
		return until
	}
	return end
}
