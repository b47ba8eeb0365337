package watch

// EventType is the kind of an event as it stands on the wire (API reference, "WatchEvent").
type EventType string

// The types of events.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	// Bookmark carries only a resourceVersion: nothing up to it is missing.
	Bookmark EventType = "BOOKMARK"
	// Error carries a Status and is the last event of its stream. It is sent to
	// clients over HTTP; typed watches of Go end with an error.
	Error EventType = "ERROR"
)

// Event is one event of a typed watch.
type Event[T any] struct {
	Type EventType
	// Object is the state after the change. For a deletion it is the last state, with the resourceVersion of the
	// deletion; for a bookmark, an object with only a resourceVersion.
	Object *T
	// InitialEventsEnd marks the bookmark that follows the initial events.
	InitialEventsEnd bool
}
