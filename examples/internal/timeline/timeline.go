package timeline

import "time"

// Timeline is what a Recorder remembered at one moment. It is a value of its
// own, which the Recorder does not change any more.
type Timeline struct {
	// From is when recording began, Until when the Timeline was taken.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Leases are ordered by namespace and name.
	Leases []Lease `json:"leases"`
	// Forgotten counts all spans, gaps, marks and offers that had to make way
	// for newer ones, those of leases that are not listed any more included.
	Forgotten int `json:"forgotten,omitempty"`
}

// Lease is what happened to one lease.
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
	// Candidates are ordered by when they first came, then by name.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Forgotten counts what is missing from the lists above.
	Forgotten int `json:"forgotten,omitempty"`
}

// Beginning says how somebody came to hold a lease.
type Beginning string

// The beginnings of spans.
const (
	// Elected: a coordinator made the holder one.
	Elected Beginning = "elected"
	// Preferred: a coordinator did, after it had asked the last holder to make
	// way for this one.
	Preferred Beginning = "preferred"
	// Acquired: the holder took the lease itself.
	Acquired Beginning = "acquired"
	// Found: it was so when recording began.
	Found Beginning = "found"
)

// Ending says how somebody ceased to hold a lease.
type Ending string

// The endings of spans.
const (
	// Expired: the lease ran out.
	Expired Ending = "expired"
	// HandedOver: the lease ran out, or was let go, after the holder was asked
	// to make way.
	HandedOver Ending = "handed over"
	// Released: the holder let go.
	Released Ending = "released"
	// Replaced: somebody else wrote himself into a lease that had not run out.
	Replaced Ending = "replaced"
	// Deleted: the lease is gone.
	Deleted Ending = "deleted"
)

// Span is a time in which one and the same held the lease, unexpired.
type Span struct {
	Holder string    `json:"holder"`
	From   time.Time `json:"from"`
	// Until is when the lease ran out or went to somebody else; zero while the
	// holder still has it.
	Until time.Time `json:"until,omitzero"`
	// TakenUp is when the holder first wrote the lease. One who was elected
	// does not lead before. Zero if that never happened.
	TakenUp time.Time `json:"takenUp,omitzero"`
	// LastRenewed is when the holder last did, zero like TakenUp. Between it
	// and Until the others only waited.
	LastRenewed time.Time `json:"lastRenewed,omitzero"`
	// Renewals counts the writes of the holder after TakenUp.
	Renewals int       `json:"renewals"`
	Began    Beginning `json:"began"`
	Ended    Ending    `json:"ended,omitempty"` // "" while it lasts
}

// Gap is a time in which nobody held the lease, although there was a Lease or
// somebody who wanted it.
type Gap struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"` // zero while it lasts
}

// MarkType says what a mark stands for.
type MarkType string

// The types of marks: the events of an Elector, see candidate.ElectionEvent.
const (
	Pinged            MarkType = "ping"
	Answered          MarkType = "answer"
	Silent            MarkType = "silent"
	Elect             MarkType = "elected"
	Prefer            MarkType = "preferred"
	PreferenceCleared MarkType = "preference cleared"
	StrategySet       MarkType = "strategy set"
	Missed            MarkType = "missed"
	Collected         MarkType = "collected"
	Failed            MarkType = "failed"
)

// Mark is something that happened at one moment.
type Mark struct {
	Time time.Time `json:"time"`
	Type MarkType  `json:"type"`
	// Candidate is whom it is about, or "".
	Candidate string `json:"candidate,omitempty"`
	// Text is the error of a failure, or "".
	Text string `json:"text,omitempty"`
}

// Candidate is one who wanted a lease.
type Candidate struct {
	Name string `json:"name"`
	// Offers are ordered by time. There is more than one where the candidate
	// went and came back, or changed its versions.
	Offers []Offer `json:"offers"`
}

// Offer is a time in which a candidate was there, with the same versions.
type Offer struct {
	From             time.Time `json:"from"`
	Until            time.Time `json:"until,omitzero"` // zero while it is there
	BinaryVersion    string    `json:"binaryVersion,omitempty"`
	EmulationVersion string    `json:"emulationVersion,omitempty"`
	Strategy         string    `json:"strategy,omitempty"`
}

// Leader returns who holds the lease, "" for nobody.
func (l *Lease) Leader() string {
	if n := len(l.Spans); n > 0 && l.Spans[n-1].Until.IsZero() {
		return l.Spans[n-1].Holder
	}
	return ""
}

// Now says in words who leads: one who was elected does not before he wrote the
// lease.
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

// Led returns how long a candidate held the lease in sum, and in how many spans.
// until stands for the end of one that lasts.
func (l *Lease) Led(candidate string, until time.Time) (sum time.Duration, spans int) {
	for _, s := range l.Spans {
		if s.Holder == candidate {
			sum += orUntil(s.Until, until).Sub(s.From)
			spans++
		}
	}
	return sum, spans
}

// orUntil returns the end of something, or until where it lasts.
func orUntil(end, until time.Time) time.Time {
	if end.IsZero() {
		return until
	}
	return end
}
