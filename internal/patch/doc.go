// Package patch applies JSON patches, JSON merge patches and strategic merge
// patches to objects of the API.
//
// A patch is applied to the object in the requested API version, and the result is
// an object of that version. Validation, defaults and the other steps of a write
// follow later. The texts of errors and warnings, and the order of checks, are
// as in k8s.io/apiserver/pkg/endpoints/handlers/patch.go.
//
// # Text and nodes
//
// If a patched document is not a valid object, the error shows the document, and
// names duplicate members in their order. Both depend on which parts of a document
// are encoded again and which keep their text. An opened node is encoded again, with
// sorted members. Any other node keeps the text that it was parsed from. A node is
// opened where gopkg.in/evanphx/json-patch.v4, which the API server uses, opens it.
//
// This package does not use that library, because its cost has no limit: 36 s for a merge patch of 1 MiB at depth 1000, which
// takes 7 ms here. It limits the bytes of copy operations only for the whole process, and panics on some patches. The time
// here is about linear in the size of patch and object, except for insertions into long arrays.
//
// # Differences
//
// The API server panics and drops the connection if a JSON patch replaces the whole
// document with nothing, or if a merge key is an object. This package refuses such a
// patch: a JSON patch with 422, a strategic merge patch with an error without a
// status. Members of a strategic merge patch are applied in the order of their
// names; upstream's order is random. The order matters if a patch has several
// faults, or both adds to a list and deletes from it. A live list of scalars with
// duplicates keeps its order when it is merged; upstream may shuffle it.
package patch
