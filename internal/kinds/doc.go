// Package kinds has the kinds of objects, and the rules that need no store. Nothing here has a lock
// or a state: a Kind never changes, and its methods work on the objects that they are given.
//
//   - kind.go: the descriptor of a kind, and its compiled form.
//   - form.go: the shapes of an object: stored, in each version, in bytes, in a Backend.
//   - scheme.go, patched.go and knowntypes.go: the bodies of requests, patched documents, and the
//     errors for bodies of other types.
//   - options.go: the options of writes, and their checks.
//   - prepare.go: the fields that a kind sets in a write, warnings, field managers.
//   - validate.go: the rules of the metadata, and the order in which problems are reported.
//
// Package registry keeps objects of these kinds.
package kinds
