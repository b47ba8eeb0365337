// Package hub keeps the history of all changes of a store, and lets any number of watchers
// follow it.
//
// # Order
//
// Every change has a version, not less than that of the change before it, a number, which is
// one greater, and a slot in one ring. There may be gaps between versions, and several changes
// may have one version: readers see all of them or none. A watcher is a position in that ring.
// It sees the changes of its scope in their order, each exactly once.
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
