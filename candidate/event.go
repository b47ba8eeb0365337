package candidate

import "time"

// ElectionEventType says what an Elector did or found.
type ElectionEventType string

// The types of events.
const (
	// Pinged: a candidate was asked for a sign of life.
	Pinged ElectionEventType = "Pinged"
	// Answered: a candidate has answered a ping.
	Answered ElectionEventType = "Answered"
	// Silent: a candidate did not answer in time. It is left out until it does.
	Silent ElectionEventType = "Silent"
	// Elected: the lease was written with the candidate as its holder.
	Elected ElectionEventType = "Elected"
	// Preferred: the holder was asked to make way for the candidate.
	Preferred ElectionEventType = "Preferred"
	// PreferenceCleared: the holder need not make way after all.
	PreferenceCleared ElectionEventType = "PreferenceCleared"
	// StrategySet: only the strategy was written. A third party carries it out.
	StrategySet ElectionEventType = "StrategySet"
	// Missed: the candidate was elected and never renewed the lease.
	Missed ElectionEventType = "Missed"
	// Collected: the candidate was deleted, since it has not renewed.
	Collected ElectionEventType = "Collected"
	// Failed: nobody can be elected for now; Err says why. It is logged again
	// only for another reason, or after a success.
	Failed ElectionEventType = "Failed"

	nothing ElectionEventType = ""
)

// ElectionEvent is one thing that an Elector did or found.
type ElectionEvent struct {
	// Time is the time of the store's clock.
	Time time.Time
	Type ElectionEventType
	// Namespace and Lease name the Lease.
	Namespace, Lease string
	// Candidate is the name of the candidate, or "".
	Candidate string
	// Err is set in events of the type Failed only.
	Err error
}
