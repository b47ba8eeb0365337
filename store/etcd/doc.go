// Package etcd opens a store whose objects are in etcd, as with a real API server: durable,
// and shared by any number of replicas. Each replica serves the whole API, reads
// and writes. Package member runs an etcd inside of the program.
//
// # What lives where
//
// etcd has the objects, the resourceVersions, which are its revisions, and the history. Keys
// and values have the same bytes as with a real API server: /registry/leases/default/a, and a
// protobuf envelope. A replica has a copy of all objects and of the last changes, fed by one
// watch. It loses nothing when it ends. When it starts, it reads the history of etcd, so
// that old watches go on, and clients need not list again.
//
// # Guarantees
//
//   - A write that was confirmed is in etcd, on the disks of most members. A write that
//     ended with another error than a refusal may have taken place; it is never repeated.
//   - Reads without a resourceVersion are linearizable, at all replicas together. Concurrent
//     reads share one round trip to etcd.
//   - A replica that reads its own write sees it. Rejections reflect linearizable state.
//   - A watch has all changes in order, or ends with 410. If the changes that a replica
//     lacks are compacted, its watches get 410.
//   - Without contact to etcd, reads at resourceVersion "0" go on, other requests end with
//     an error in time, and watches over HTTP end after 30 seconds, so that clients go to
//     another replica.
//
// # What is refused, and why
//
//   - etcd before 3.4.31, and 3.5 before 3.5.13: their watches may report progress before
//     the changes (https://github.com/etcd-io/etcd/issues/15220 and 17507).
//   - Options.Store with Quota, FirstResourceVersion, Seed or a clock that is moved by hand,
//     and fixtures that are loaded: etcd gives revisions and has a quota of its own, and
//     other replicas know no such clock.
//   - An etcd whose revision went back: it was restored from a backup without
//     --bump-revision, and clients hold versions that come again. All requests fail until
//     all replicas are started again.
//   - A prefix with keys, none of which is of our kinds. To share an etcd with a real API
//     server, below another prefix, is fine.
//
// # kine
//
// https://github.com/k3s-io/kine speaks the protocol of etcd with SQLite, PostgreSQL, MySQL
// or NATS behind it. Its URL is an endpoint as any other. All requests to it have the shapes
// that it knows. A watch of kine may be silent for long, so silence does not show that contact
// is lost; the keepalive of the connection does, after 15 seconds. A write is read back, since
// the answer of kine may have the revision of another write.
package etcd
