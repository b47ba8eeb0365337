// Package store keeps objects in memory under the rules of the Kubernetes API:
// one resourceVersion counter for all kinds, optimistic concurrency, the
// lifecycle of metadata, finalizers, lists at a version, and watches.
//
// # Collections
//
// A Store holds any number of kinds. Collection is the typed door to one of them:
// lease.In(st) returns one. Package httpapi serves the same objects. Both run
// through the same code, so a rule of the API holds for both.
//
// # Kinds
//
// A Descriptor describes a kind: its names and versions, whether objects are in
// namespaces, whether their status is a subresource, and its own rules. NewKind makes
// it a Kind. Objects have a Go type, or any form: see Unstructured. Kinds that are not
// Native follow the rules of custom resources.
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
