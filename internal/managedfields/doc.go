// Package managedfields keeps the record of who owns which fields of an object,
// and merges what server-side apply is given into it.
//
// It does what k8s.io/apimachinery/pkg/util/managedfields and
// sigs.k8s.io/structured-merge-diff do for an API server, for types that
// package codec has compiled: [Kind.Update] after every write that is no apply,
// [Kind.Apply] for those that are. Rules, texts and the bytes of the record are
// upstream's, its oddities included; the tests that hold the two against each
// other need upstream's packages and are in internal/test/referee/differential.
//
// # Sets
//
// The record is a list of managers with a set of fields each. A set is a tree:
// its nodes are members of objects, and items of lists that are told apart by
// keys or by their value. A field that contains others can be in a set itself,
// which is not the same as all of what is in it being there.
//
// What an object has is not what its owner owns: a document that is applied
// owns the fields it spells out, while any other write gains the fields that it
// changes, and with a new object or list all that comes with it. An object or
// list that is atomic counts as one field.
//
// # Versions
//
// Sets are written in the terms of the API version that the manager used, and
// stay that way. When somebody writes through another version, the object is
// converted, before and after, to see what that takes from whom.
//
// # Renewals
//
// Nearly all writes are renewals: a holder of a lease that sets a new time in a
// field it owns alone. They are recognized by comparing the objects and looking
// the field up in the bytes of the record, which then only gets a new time.
//
// # Differences
//
// Faults in an applied document are reported in the order of their names and
// conflicts in the order of their managers, which upstream leaves to chance.
// An applier whose record claims apiVersion, which only a client can have
// written there, makes upstream fail; here the claim is ignored.
package managedfields
