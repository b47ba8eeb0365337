package candidate

import "time"

// ElectionEventType says what an Elector did or found.
type ElectionEventType string

// The types of events.
const (
	// Pinged: a candidate was asked for a sign of life.
	Pinged ElectionEventType = "Pinged"
	// Answered: a candidate that was asked has given one.
	Answered ElectionEventType = "Answered"
	// Silent: a candidate did not answer in time and is left out until it does.
	Silent ElectionEventType = "Silent"
	// Elected: the lease was written with the candidate as its holder.
	Elected ElectionEventType = "Elected"
	// Preferred: the holder was asked to make way for the candidate.
	Preferred ElectionEventType = "Preferred"
	// PreferenceCleared: the holder need not make way after all.
	PreferenceCleared ElectionEventType = "PreferenceCleared"
	// StrategySet: the lease was written with a strategy alone, which is not
	// the Elector's to carry out.
	StrategySet ElectionEventType = "StrategySet"
	// Missed: the candidate was elected and never renewed the lease.
	Missed ElectionEventType = "Missed"
	// Collected: the candidate was deleted, since it has not renewed.
	Collected ElectionEventType = "Collected"
	// Failed: nobody can be elected for now; Err says why. It is told once,
	// until there is another reason, or none.
	Failed ElectionEventType = "Failed"

	nothing ElectionEventType = ""
)

// ElectionEvent is one thing that an Elector did or found.
type ElectionEvent struct {
	// Time is that of the store's clock.
	Time time.Time
	Type ElectionEventType
	// Namespace and Lease name the lease that it is about.
	Namespace, Lease string
	// Candidate is who it is about, or "".
	Candidate string
	// Err is not nil in events of the type Failed, and only there.
	Err error
}
