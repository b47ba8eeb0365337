package codec

import (
	"math"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// RoundTrips reports whether it is easy to see that encoding obj to JSON and decoding it returns
// the same as Copy.
func (t *Type) RoundTrips(obj any) bool { return t.roundTrips(t.check(obj)) }

func (t *Type) roundTrips(p unsafe.Pointer) bool {
	switch t.shape {
	case shapeBool, shapeInt32, shapeInt64, shapeBytes:
		return true
	case shapeFloat64:
		f := *(*float64)(p)
		return f-f == 0 && (f != 0 || !math.Signbit(f)) // a -0 may be left out
	case shapeString:
		return utf8.ValidString(*(*string)(p))
	case shapeTime, shapeMicroTime: // a text with four digits of year can be read again
		year := (*time.Time)(p).UTC().Year()
		return year >= 1 && year <= 9999
	case shapeFieldsV1:
		raw := (*meta.FieldsV1)(p).Raw
		return isPlainJSON(raw) && raw[0] == '{' // a null is no FieldsV1
	case shapeStruct:
		for _, f := range t.all {
			if !f.roundTrips(p) {
				return false
			}
		}
		return true
	case shapeList:
		s := (*slice)(p)
		for i := range s.len {
			if !t.Elem.roundTrips(t.item(s, i)) {
				return false
			}
		}
		return true
	case shapeMap:
		if !t.stringMap {
			return false
		}
		for k, v := range *(*map[string]string)(p) {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return false
			}
		}
		return true
	}
	return false // types with methods of their own, and trees
}

func (f *Field) roundTrips(p unsafe.Pointer) bool {
	q := f.target(p)
	switch {
	case !f.onWire:
		return false
	case q == nil:
		return true
	case f.Pointer && f.Type.isZeroTime(q):
		return false // its JSON is null
	case f.OmitEmpty && f.Type.nilable() && f.Type.length(q) == 0:
		return f.Type.isNil(q)
	}
	return f.Type.roundTrips(q)
}
