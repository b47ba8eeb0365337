// Package managedfields records which manager owns which fields of an object, and
// implements server-side apply.
//
// It takes the place of k8s.io/apimachinery/pkg/util/managedfields and
// sigs.k8s.io/structured-merge-diff, for types that package codec has compiled.
// [FieldManager.Apply] is for an apply, [FieldManager.Update] for every
// other write. Rules, error texts and the bytes of the record equal upstream's,
// oddities included. The scenarios in testdata were recorded with upstream's field
// manager. The tests that compare the two directly need upstream's packages. They are in
// internal/test/etcd/referee/differential.
//
// # Sets
//
// The record of an object, its managedFields, lists managers, each with a set of
// fields. A set is a tree. Its nodes are members of objects and items of lists; an
// item is identified by its keys or by its value. A node is in the set, or only
// leads to nodes that are in the set.
//
// An applier owns the fields that its configuration contains. Any other writer
// gains the fields that it changes. If it adds an object or list, it gains every
// field in it. An atomic object or list is one field.
//
// # Versions
//
// A set stays in the API version that its manager used. For a write in
// another version, the objects before and after the write are converted to the
// version of each set, to find the fields that its manager loses.
//
// # Renewals
//
// Nearly all writes are renewals: the holder of a lease sets a new time in a field
// that no other manager owns. If each field that changes is in the set of the writer and
// in no other, only a time in the record changes. A kind has few different sets, so a set
// is parsed once for its bytes.
//
// A create is simple too: the writer owns every field of the object. Update writes the set
// during one walk of the object.
//
// # Differences
//
// Faults in an applied document are sorted by name and conflicts by manager;
// upstream's order is random. If a client writes a record in which an applier owns
// apiVersion, upstream fails; this package ignores that field.
package managedfields
