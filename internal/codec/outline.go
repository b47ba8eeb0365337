package codec

import (
	"encoding/binary"
	"unsafe"
)

// AppendOutline appends which members an object has, down to its leaves and the keys of its maps, but no values. Members that an empty
// object has with the same value are left out. It returns false for an object that has more than scalars, structs, maps of strings and
// atomic lists. Two outlines of a type are equal only if the members are.
func (v Value) AppendOutline(dst []byte) (_ []byte, ok bool) {
	return v.appendOutline(dst, v.typ.zero)
}

// appendOutline is AppendOutline for a struct. zero is an empty struct, or nil if an empty object has none here.
func (v Value) appendOutline(dst []byte, zero unsafe.Pointer) (_ []byte, ok bool) {
	if v.typ.Rest != nil || len(v.typ.Fields) > 254 {
		return dst, false
	}
	for i, f := range v.typ.Fields {
		if f.omitted(v.at) || v.hides != nothing && v.hidden(f.Name) {
			continue
		}
		t, p := f.Type, f.target(v.at)
		isInEmpty := zero != nil && !f.omitted(zero) // omitempty does not leave out a struct
		switch {
		case isInEmpty && t.Kind == Scalar && !t.Custom && f.equal(v.at, zero):
			continue
		case p == nil, f.Pointer && !f.Optional(), t.Custom, t.isZeroTime(p), t.isNil(p):
			return dst, false // a null, or what a leaf is depends on its value
		}
		dst = append(dst, byte(i+1))
		switch {
		case t.Kind == Scalar, t.Kind == List && f.ListType == "atomic" && f.OmitEmpty:
		case t.stringMap && f.OmitEmpty:
			var room [8]string
			keys, _ := Value{typ: t, at: p, present: true}.Keys(room[:0])
			for _, key := range keys {
				dst = append(binary.AppendUvarint(dst, uint64(len(key)+1)), key...)
			}
			dst = append(dst, 0)
		case t.Kind == Struct:
			below, empty := Value{typ: t, at: p, present: true}, unsafe.Pointer(nil)
			if isInEmpty {
				empty = f.target(zero)
			}
			if v.hides == typeMembers && f.Name == "metadata" {
				below.hides = managedFields
			}
			if dst, ok = below.appendOutline(dst, empty); !ok {
				return dst, false
			}
			dst = append(dst, 0)
		default:
			return dst, false
		}
	}
	return dst, true
}
