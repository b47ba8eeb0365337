// Package store keeps objects in memory under the rules of the Kubernetes API: one resourceVersion counter for all
// kinds, optimistic concurrency, finalizers, field managers, lists at a resourceVersion, and watches.
//
//	st := store.New(store.Options{})
//	defer st.Close()
//	leases := lease.In(st) // a *store.Collection[lease.Lease]
//	l, err := leases.Create(ctx, &lease.Lease{...}, store.CreateOptions{})
//
// # Collections
//
// A Store holds objects of any number of kinds. A Collection reads and writes the objects of one kind. Package
// httpapi serves the same objects over HTTP, by the same code.
//
// # Kinds
//
// A kind.Descriptor describes a kind: its names and versions, whether objects have namespaces, whether the status is a
// subresource, and its own rules. NewKind makes it a Kind. Objects have a Go type, or no schema: see Unstructured. A
// kind follows the rules of custom resources unless it is Native.
//
// # Objects
//
// Objects that go in are copied, and objects that come out belong to the caller. Only the objects of Objects, and of a watch with Shared,
// are shared.
//
// # Order
//
// Every change takes the next resourceVersion and is added to the history in one step, so all watchers see changes in
// the order of their resourceVersions. A write is computed and validated before it takes the lock that reads share, so
// a read waits at most for the few lines that publish a write.
//
// # Errors
//
// An error of the API is a *meta.StatusError, and errors.Is compares it with ErrNotFound, ErrConflict and the other
// errors of this package. A call whose context has ended returns the error of the context.
//
// # Time
//
// Timestamps and timers come from Options.Clock. See package clock for a clock that tests move by hand.
package store
