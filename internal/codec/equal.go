package codec

import (
	"bytes"
	"maps"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Equal reports whether a and b, non-nil pointers to the compiled struct, have the same meaning on
// the wire. It compares times in the precision of their type. An empty slice or map with omitempty
// equals nil. A pointer to a zero value differs from a nil pointer.
func (t *Type) Equal(a, b any) bool {
	p, q := t.check(a), t.check(b)
	return p == q || t.equal(p, q)
}

func (t *Type) equal(p, q unsafe.Pointer) bool {
	switch t.shape {
	case shapeBool, shapeInt32, shapeInt64:
		return t.integer(p) == t.integer(q)
	case shapeFloat64:
		return math.Float64bits(*(*float64)(p)) == math.Float64bits(*(*float64)(q))
	case shapeString:
		return *(*string)(p) == *(*string)(q)
	case shapeTime, shapeMicroTime:
		seconds, nanos := t.time(p)
		others, otherNanos := t.time(q)
		return seconds == others && nanos == otherNanos
	case shapeBytes:
		return t.isNil(p) == t.isNil(q) && bytes.Equal(*(*[]byte)(p), *(*[]byte)(q))
	case shapeFieldsV1:
		return bytes.Equal((*meta.FieldsV1)(p).Raw, (*meta.FieldsV1)(q).Raw)
	case shapeCustom, shapeCustomBytes:
		if t.custom != nil && t.custom.equal != nil {
			return t.custom.equal(p, q)
		}
		return t.equalCustom(p, q)
	case shapeList:
		return t.equalLists((*slice)(p), (*slice)(q))
	case shapeMap:
		return t.equalMaps(p, q)
	case shapeTree:
		return equalTrees(*(*map[string]any)(p), *(*map[string]any)(q))
	}
	// Backward, because the fields after the metadata differ most often.
	for _, f := range slices.Backward(t.all) {
		if !f.equal(p, q) {
			return false
		}
	}
	return true
}

func (f *Field) equal(p, q unsafe.Pointer) bool {
	p, q = f.target(p), f.target(q)
	if p == nil || q == nil {
		return p == q
	}
	if f.OmitEmpty && !f.Pointer && f.Type.length(p) == 0 {
		return f.Type.length(q) == 0
	}
	return f.Type.equal(p, q)
}

func (t *Type) equalLists(x, y *slice) bool {
	if x.len != y.len || (x.data == nil) != (y.data == nil) {
		return false
	}
	if x.data == y.data {
		return true
	}
	for i := range x.len {
		if !t.Elem.equal(t.item(x, i), t.item(y, i)) {
			return false
		}
	}
	return true
}

func (t *Type) equalMaps(p, q unsafe.Pointer) bool {
	if *(*unsafe.Pointer)(p) == *(*unsafe.Pointer)(q) {
		return true // the same map
	}
	if t.stringMap {
		x, y := *(*map[string]string)(p), *(*map[string]string)(q)
		return (x == nil) == (y == nil) && maps.Equal(x, y)
	}
	return t.equalOtherMaps(t.value(p), t.value(q))
}

// EqualEntries is maps.Equal, which walks also along a map that is the same.
func EqualEntries(x, y map[string]string) bool {
	return *(*unsafe.Pointer)(unsafe.Pointer(&x)) == *(*unsafe.Pointer)(unsafe.Pointer(&y)) || maps.Equal(x, y)
}

func (t *Type) equalOtherMaps(x, y reflect.Value) bool {
	if x.Len() != y.Len() || x.IsNil() != y.IsNil() {
		return false
	}
	key, value, other := reflect.New(t.goType.Key()).Elem(), reflect.New(t.goType.Elem()), reflect.New(t.goType.Elem())
	for entries := x.MapRange(); entries.Next(); {
		key.SetIterKey(entries)
		found := y.MapIndex(key)
		if !found.IsValid() {
			return false
		}
		value.Elem().SetIterValue(entries)
		other.Elem().Set(found)
		if !t.Elem.equal(value.UnsafePointer(), other.UnsafePointer()) {
			return false
		}
	}
	return true
}

// copyMapValue returns the address of a copy of a map value, which has no address itself.
func (t *Type) copyMapValue(value reflect.Value) unsafe.Pointer {
	v := reflect.New(t.goType.Elem())
	v.Elem().Set(value)
	return v.UnsafePointer()
}
