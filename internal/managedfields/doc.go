// Package managedfields records which manager owns which fields of an object, and
// implements server-side apply.
//
// It does what k8s.io/apimachinery/pkg/util/managedfields and
// sigs.k8s.io/structured-merge-diff do for an API server, for types that
// package codec has compiled. [Kind.Apply] is for an apply, [Kind.Update] for every
// other write. Rules, error texts and the bytes of the record equal upstream's,
// oddities included; the tests that compare the two need upstream's packages and
// are in internal/test/referee/differential.
//
// # Sets
//
// The record is a list of managers with a set of fields each. A set is a tree. Its
// nodes are members of objects, and items of lists that are identified by keys or
// by their value. A node is in the set, or only leads to nodes that are.
//
// An applier owns the fields that its configuration contains. Any other writer
// gains the fields that it changes, and every field of an object or list that it
// adds. An atomic object or list is one field.
//
// # Versions
//
// A set stays in the API version that its manager used. When another version is
// written, the object is converted before and after, to find the fields that each
// manager loses.
//
// # Renewals
//
// Nearly all writes are renewals: the holder of a lease sets a new time in a field
// that it alone owns. Update recognizes them by comparing the objects and finding
// the field in the bytes of the record. Then only a time in the record changes.
//
// # Differences
//
// Faults in an applied document are sorted by name and conflicts by manager;
// upstream's order is random. If a client writes a record in which an applier owns
// apiVersion, upstream fails; this package ignores that field.
package managedfields
