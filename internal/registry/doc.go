// Package registry keeps the objects of all kinds under the rules of the API. It is the
// untyped store: package store is its typed door, and package httpapi serves it.
//
// # What lives here
//
//   - A write: write.go (the steps and their order, and when they begin again), change.go (the
//     next state of an object), patch.go, prepare.go (the fields that the server sets).
//     Deletions are in delete.go, whole states in restore.go.
//   - A read: options.go, readstate.go (which state a read is served from), read.go (get, and
//     waiting), selection.go and list.go, continue.go (tokens), watch.go.
//   - The state: store.go, resource.go (one collection), item.go (one state of one object),
//     snapshot.go (older states), seed.go (uids and generated names), feed.go (the changes
//     of all collections).
//   - Caches: the bytes in item.go, pages.go, the snapshots in snapshot.go. Each names
//     the benchmark that defends it.
//   - A source: source.go is the seam between the rules and the state, and the store in memory.
//     A store whose objects a Backend keeps is behind it: engine.go (its life), enginecalls.go
//     (reads and writes), enginefollow.go (changes of the Backend), stored.go (keys and values).
//     So is replica.go: reads that lag, for tests.
//
// All of this is one package, since all of it shares one lock. A write checks its precondition, derives a uid and
// commits in one critical section; a list clones the tree, and a watch finds its position, under the same lock. A
// package of the state below this one would have to call it, or to export its lock.
//
// # What does not live here
//
// Kinds, bodies of requests, options of writes and validation are in internal/kinds. The history
// of changes and its readers are in internal/hub, wire formats in internal/codec, patches in
// internal/patch, field ownership in internal/managedfields, paths and query parameters in httpapi.
//
// # Invariants
//
//   - An Item never changes, and neither does the object in it. What leaves the package is a
//     copy.
//   - publishLocked is the one place where versions are taken. The tree, the counter
//     and the history change under one lock, so the order of versions is the order of events. On a
//     Backend versions come with its changes, and Load and Changed of the follower do the same.
//   - On a Backend the tree, the counter and the history are a cache. Only the follower changes
//     them. What a write decides from them is confirmed by the Backend before it is an answer.
//   - A write that changes nothing takes no version and sends no event.
//   - The tree of a snapshot is never written to.
//
// # Locks
//
// Locks are taken in this order: Replica.mu, Store.mu, engine.mu, the locks of internal/hub,
// the lock of a clock.Manual. No other lock is taken while snapshotCache.mu is held. While
// Store.mu is held, no object is copied or encoded, and no function of the user is called: the
// functions of a kind, Warn, and the methods of a clock (TestNoCallbackUnderTheLock).
package registry
