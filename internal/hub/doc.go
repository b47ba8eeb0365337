// Package hub keeps the history of all changes of a store and lets any
// number of watchers follow it.
//
// # Order
//
// Every change has a version, one greater than the change before it, and
// stands in one ring. A watcher is a position in that ring: it sees the
// changes of its scope in the order of their versions, each exactly once.
//
// # Slow watchers
//
// A writer never waits for a watcher and there is no queue a watcher. The
// writer leaves a mark at the watchers whose scope the change touches and goes
// on. A watcher whose next change has been overwritten in the ring is told
// ErrExpired and has to start afresh from a list. One that has nothing to read
// does not expire, however much happens elsewhere.
//
// # Forks
//
// A hub can be forked: the fork has the same history and no watcher, and nothing
// that happens to one of the two concerns the other. They share what is in the
// history by then, and copy a part of it when they write to it.
//
// # End
//
// A watcher that is closed leaves nothing behind. Closing the hub ends all of
// them.
//
// What a change holds, which selector wants it and how it looks on the wire is
// the business of packages store, selector and httpapi.
package hub
