// Package watch has the events of watches, and the contract that every watch keeps, typed or over HTTP.
//
// # Order
//
// Every change in a store takes the next resourceVersion. A watch sees the changes
// of its scope in the order of their resourceVersions, each exactly once.
//
// # Slow watchers
//
// A writer never waits for a watcher, and no watcher has a queue. All read one shared history of bounded length. A
// watcher whose next change has left the history ends with store.ErrExpired, 410 on the wire, and must list again. A
// watcher that has nothing to read does not expire, however many changes there are outside its scope.
//
// # Elsewhere
//
// Package httpapi and the methods Watch and Follow of store.Collection open watches. The history is in internal/hub.
package watch
