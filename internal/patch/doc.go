// Package patch applies JSON patches, JSON merge patches and strategic merge
// patches to objects of the API.
//
// A patch works on the object in the shape of the API version that the request
// names, and what comes out is an object of that shape: validation, defaults
// and everything else that a write does follow later. Texts of errors and
// warnings, and the order in which problems are found, are those of
// k8s.io/apiserver/pkg/endpoints/handlers/patch.go.
//
// # What is kept of the document
//
// The answer to a patch that breaks an object shows the patched document, and
// duplicate members are reported where they are. Both depend on which parts of
// a document are written anew and which are left as they were sent. A node is
// either opened, and then written with sorted members, or still the text it came
// as. It is opened where gopkg.in/evanphx/json-patch.v4 opens it, which the API
// server uses.
//
// That library is not used here, because its cost has no bound that we could set:
//
//   - It takes time proportional to size and depth: 3 s for a merge patch of
//     3 MiB at depth 20 and 36 s for 1 MiB at depth 1000. Here they take 33 and
//     7 ms.
//   - It limits the bytes of copy operations only through a variable of the
//     package, which would bind the whole process. Without that limit 30 copies
//     exhaust the memory.
//   - It panics on some patches.
//
// Here everything takes time about linear in the size of patch and object, except
// insertions into long arrays.
//
// # Differences
//
// Where the API server panics and drops the connection (a JSON patch that
// replaces the whole document with nothing, a merge key that is an object), the
// patch is refused here: with 422 for a JSON patch, and an error without a
// status for a strategic one. Members of a strategic merge patch are applied in
// the order of their names, which upstream leaves to chance: this shows when a
// patch has several faults, or both adds to a list and deletes from it. A live
// list of scalars that holds one of them twice keeps its order when it is
// merged; upstream may shuffle it.
package patch
