// Package codec derives from a Go struct type and its tags everything that the
// wire needs: JSON, protobuf and unstructured forms in both directions, copies
// and comparisons, and the schema that patches and field management read.
//
// [Compile] walks the type once and returns a plan that never changes. All its
// methods may be called from any goroutine. They check the type of an object, and then
// access its fields with package unsafe, by offsets that Compile took from the type.
//
// # Types
//
// A value is a bool, int, int32, int64, float64, string or []byte, one of
// [meta.Time], [meta.MicroTime] and [meta.FieldsV1], a custom type, a struct, a
// slice of any of these, or a map from a string type to any of these. A field may
// also be a pointer to any of these except slices and maps. Items of slices and
// values of maps must not be pointers. A named type is treated like its underlying
// type.
//
// A custom type has JSON or text methods of its own, in both directions. It must be
// a slice of bytes, such as [json.RawMessage], or have no pointers in it, so that a
// copy of the memory is a copy of the value. It has no protobuf form. [Compile] returns an
// error for every other type.
//
// # Tags
//
// The json tag is read as by encoding/json, with omitempty, omitzero and inline. A
// field of type map[string]any tagged ",rest" holds all members that the struct
// does not declare, as trees. They have no protobuf form.
// Fields tagged "-" are not encoded, but they are copied and compared. The
// protobuf tag holds the field number; fields without one are not in the
// protobuf form. The tags patchStrategy, patchMergeKey, listType, listMapKey
// and, on a blank field, structType have the meaning they have in the Kubernetes
// API types. The tag goPackage says which name error texts use for the package of
// the field's type, or of its items, where that is not the package of the object.
//
// # Reading JSON
//
// The strict library, sigs.k8s.io/json, defines the meaning of a document and the texts of
// its errors. The reader of this package reads the documents of nearly all clients
// faster, and gives up on everything unusual; the library then reads the document
// from its beginning. A fuzz test compares the two. The same reader applies
// ordinary merge patches, and reads YAML that is plain JSON.
package codec
