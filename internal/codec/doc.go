// Package codec derives from a Go struct type and its tags everything that the
// wire needs: JSON, protobuf and unstructured forms in both directions, copies
// and comparisons, and the schema that patches and field management read.
//
// [Compile] walks the type once and returns a plan that never changes. All its
// methods may be called from any goroutine. They reach fields by their offset
// from the start of the struct, with package unsafe: each object is checked to
// be of the compiled type first, and from there on the plan knows the layout.
//
// # Types
//
// A value is a bool, int, int32, int64, float64, string or []byte, one of
// [meta.Time], [meta.MicroTime] and [meta.FieldsV1], a custom type, a struct, a
// slice of any of these, or a map from a string type to any of these. A field may
// also be a pointer to any of them but slices and maps; items of slices and values
// of maps may not. Named types count as their underlying types.
//
// A custom type has JSON or text methods of its own, in both directions. It is a
// slice of bytes, such as [json.RawMessage], or has no pointers in it, so that
// copying memory copies the value. It has no protobuf form. [Compile] returns an
// error for every other type.
//
// # Tags
//
// The json tag is that of encoding/json with omitempty, omitzero and inline. A
// field of type map[string]any tagged ",rest" holds all members that the struct
// does not declare, as trees; they are on no protobuf wire.
// Fields tagged "-" are on no wire, but they are copied and compared. The
// protobuf tag holds the field number; fields without one are not in the
// protobuf form. The tags patchStrategy, patchMergeKey, listType, listMapKey
// and, on a blank field, structType are those of the Kubernetes API types.
package codec
