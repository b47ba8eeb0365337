// Package patch applies JSON patches, JSON merge patches and strategic merge
// patches to objects of the API.
//
// A patch is applied to the object in the requested API version, and the result is
// an object of that version. Validation, defaults and the other steps of a write
// follow later. Texts of errors and warnings, and the order of checks, are those of
// k8s.io/apiserver/pkg/endpoints/handlers/patch.go.
//
// # Text and nodes
//
// The answer to a patch that breaks an object shows the patched document, and
// duplicate members are reported at their place. Both depend on which parts of a
// document are encoded again and which keep their text. A node is either opened,
// and then encoded with sorted members, or keeps the text it was parsed from. It is
// opened where gopkg.in/evanphx/json-patch.v4, which the API server uses, opens it.
//
// That library is not used here, because its cost cannot be bounded:
//
//   - It takes time proportional to size and depth: 3 s for a merge patch of
//     3 MiB at depth 20 and 36 s for 1 MiB at depth 1000. Here they take 33 and
//     7 ms.
//   - It limits the bytes of copy operations only through a package variable, for
//     the whole process. Without that limit 30 copies exhaust the memory.
//   - It panics on some patches.
//
// Here time is about linear in the size of patch and object, except for insertions
// into long arrays.
//
// # Differences
//
// Where the API server panics and drops the connection (a JSON patch that
// replaces the whole document with nothing, a merge key that is an object), the
// patch is refused here: with 422 for a JSON patch, and an error without a
// status for a strategic one. Members of a strategic merge patch are applied in
// the order of their names; upstream's order is random. This shows if a patch has
// several faults, or both adds to a list and deletes from it. A live list of
// scalars with duplicates keeps its order when it is merged; upstream may shuffle
// it.
package patch
