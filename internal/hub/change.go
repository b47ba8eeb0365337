package hub

import "time"

// Change is one entry of the history. It must not be modified once published.
type Change[P any] struct {
	// Version is the resourceVersion the change was given.
	Version uint64
	// Collection, Namespace and Name say what was changed.
	Collection      int
	Namespace, Name string
	// At is when, for histories that are limited by age.
	At time.Time
	// Payload is the change itself.
	Payload P

	// skipped makes the entry stand for the versions from here to Version, which
	// passed without a change. In a change it is 0.
	skipped uint64
}

// noCollection is where what is no change belongs.
const noCollection = -1

// holds reports whether the entry is that of a version.
func (c *Change[P]) holds(version uint64) bool {
	return c.Version == version || c.skipped != 0 && c.skipped <= version && version < c.Version
}

// Scope is the part of the history a watcher wants: one object, or all of a
// namespace where Name is empty, or all of a collection where Namespace is
// empty too.
type Scope struct {
	Collection      int
	Namespace, Name string
}

// contains reports whether a change is in the scope.
func contains[P any](s Scope, c *Change[P]) bool {
	return s.Collection == c.Collection &&
		(s.Namespace == "" || s.Namespace == c.Namespace) &&
		(s.Name == "" || s.Name == c.Name)
}
