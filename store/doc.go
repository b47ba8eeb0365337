// Package store keeps objects in memory under the rules of the Kubernetes API:
// one resourceVersion counter for all kinds, optimistic concurrency, the
// lifecycle of metadata, finalizers, lists at a version, and watches.
//
// # Doors
//
// A Store holds any number of kinds. Collection is the typed door for Go
// programs: lease.In(st) returns one. Resource is the untyped door that
// package httpapi serves; both run through the same code, so a rule of the API
// holds for both.
//
// # Kinds
//
// A Kind says all there is to know of one kind: its names and versions, whether
// objects lie in namespaces, whether their status is a subresource, and rules of
// its own. Objects have a Go type, or any form: see Unstructured. Kinds that are
// not Native go by the rules of custom resources.
//
// # Objects
//
// Stored objects never change: a write puts another in their place. What comes
// out of a Collection is a deep copy that belongs to the caller, and what goes
// in is copied.
//
// # Order
//
// Writers take turns. Each change takes the next version, goes into the tree
// and into the history under one lock, so that the order of versions is the
// order of events for every watcher. Readers work on snapshots that cost
// nothing to take and never wait for writers to finish.
//
// # Forks
//
// Fork makes another world of a store, history included, at the cost of a few
// microseconds: one costly state, many tests that never see each other's writes.
//
// # Time
//
// Options.Clock is the one clock: timestamps are taken from it, and all waiting
// here and above goes by it. Package clock tells what there is.
//
// # What does not live here
//
// Wire formats are in internal/codec, patches in internal/patch, paths, query
// parameters and media types in httpapi.
package store
