// Package hub keeps the history of all changes of a store, and lets any number of watchers
// follow it.
//
// # Order
//
// Every change has a version, one greater than the change before it, and a slot in one
// ring. A watcher is a position in that ring. It sees the changes of its scope in the order
// of their versions, each exactly once.
//
// # Slow watchers
//
// A writer never waits for a watcher, and watchers have no queues. The writer marks the
// watchers whose scope the change touches. A watcher whose next change was overwritten gets
// an *ExpiredError and must list again. A watcher that has nothing to read does not expire,
// however many changes there are in other scopes.
//
// # Forks
//
// A fork has the same history and no watchers, and is independent of its parent. Both share
// the history up to the fork. Before either writes to a part of it, it copies that part.
package hub
