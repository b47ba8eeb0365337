// Package hub keeps the history of the changes of a store, and lets any number of readers follow it.
//
// # Order
//
// Every change has a version, which is not less than the version of the change before it. There may be gaps between
// versions, and several changes may have one version: readers see all of them or none. A reader is a position in the
// history: a version. It sees the changes of its scope in their order, each exactly once.
//
// # Slow readers
//
// A writer never waits for a reader, and readers have no queues. The writer marks the readers whose scope has the
// change. A reader whose next change has left the history gets an *ExpiredError and must list again. A reader that has
// nothing to read does not expire, however many changes there are in other scopes.
//
// # Lock
//
// One mutex guards the history and all marks, for a few lines at a time. Changes are appended
// to a slice, and no element of it is written to again. So a reader copies the slice header
// under the lock, and selects its changes without it.
//
// # Forks
//
// A fork has the same history and no readers, and is independent of its parent. Both share the
// slice up to the fork; the next change of either copies it.
package hub
