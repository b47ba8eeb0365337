package codec

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"time"
	"unsafe"

	kjson "sigs.k8s.io/json"
)

// This file handles custom types, such as json.RawMessage; see the package's documentation.

// hasMethods reports whether encoding/json calls methods of t or *t.
func hasMethods(t reflect.Type) bool {
	if t.PkgPath() == "" && t.Kind() != reflect.Struct || reflect.PointerTo(t).NumMethod() == 0 {
		return false // most types, at less cost
	}
	return implements[json.Marshaler](t) || implements[json.Unmarshaler](t) || implements[encoding.TextMarshaler](t) || implements[encoding.TextUnmarshaler](t)
}

func implements[I any](t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[I]())
}

// compileCustom compiles a custom type. It returns false for other types.
func (c *compiler) compileCustom(out *Type) bool {
	t := out.goType
	if t.Kind() == reflect.Interface || !hasMethods(t) {
		return false
	}
	out.Kind, out.shape, out.Custom, out.flat = Untyped, shapeCustom, true, true
	if c.lib != nil && c.lib.Custom[t] != nil {
		out.custom = c.lib.Custom[t]
		out.Kind, out.flat = out.custom.kind, out.custom.detach == nil
		return true
	}
	writesJSON, readsJSON := implements[json.Marshaler](t), implements[json.Unmarshaler](t)
	writesText, readsText := implements[encoding.TextMarshaler](t), implements[encoding.TextUnmarshaler](t)
	if !writesJSON && !readsJSON {
		out.Kind = Scalar
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		out.shape, out.flat = shapeCustomBytes, false
	}
	switch {
	case t.ConvertibleTo(reflect.TypeFor[time.Time]()):
		c.refuse(t, "meta.Time or meta.MicroTime")
	case writesJSON != readsJSON || out.Kind == Scalar && writesText != readsText:
		c.refuse(t, "MarshalJSON and UnmarshalJSON, or MarshalText and UnmarshalText")
	case !out.nilable() && hasPointers(t):
		c.refuse(t, "a type without pointers, slices and maps, or a slice of bytes, as it has JSON or text methods of its own")
	}
	return true
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if hasPointers(f.Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128 && t.Kind() != reflect.String
}

// appendCustom appends the JSON of the value at p.
func (t *Type) appendCustom(dst []byte, p unsafe.Pointer) ([]byte, error) {
	if t.custom != nil && t.custom.tree != nil {
		return appendTree(dst, t.custom.tree(p))
	}
	data, err := json.Marshal(t.value(p).Addr().Interface())
	return append(dst, data...), err
}

// customTree returns the tree of the value at p, or nil if it has no JSON.
func (t *Type) customTree(p unsafe.Pointer) (tree any) {
	if t.custom != nil && t.custom.tree != nil {
		return t.custom.tree(p)
	}
	data, err := t.appendCustom(nil, p)
	if err != nil || kjson.UnmarshalCaseSensitivePreserveInts(data, &tree) != nil {
		return nil
	}
	return NormalTree(tree)
}

// equalCustom compares memory first, as comparing JSON is slow.
func (t *Type) equalCustom(p, q unsafe.Pointer) bool {
	if t.shape == shapeCustomBytes && bytes.Equal(*(*[]byte)(p), *(*[]byte)(q)) || t.shape == shapeCustom && t.sameMemory(p, q) {
		return true
	}
	return equalTree(t.customTree(p), t.customTree(q))
}

// CheckJSON returns an error, and the path of the member, if a value in obj has no
// JSON form. obj is a non-nil pointer to the compiled struct.
func (t *Type) CheckJSON(obj any) (path string, err error) {
	p := t.check(obj)
	if !t.fallible {
		return "", nil
	}
	return t.checkJSON(p)
}

func (t *Type) checkJSON(p unsafe.Pointer) (path string, err error) {
	for _, f := range t.Fields {
		q := f.target(p)
		if q == nil || f.omitted(p) {
			continue
		}
		if f.Type.Kind != Struct {
			if _, err := f.Type.appendJSON(nil, q); err != nil {
				return f.Name, err
			}
		} else if path, err := f.Type.checkJSON(q); err != nil {
			return f.Name + "." + path, err
		}
	}
	return "", nil
}
