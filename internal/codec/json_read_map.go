package codec

import (
	"reflect"
	"unsafe"
)

// mapValue reads an object into a map.
func (r *jsonReader) mapValue(t *Type, p unsafe.Pointer) bool {
	empty, ok := r.open('}')
	if !ok {
		return false
	}
	if !t.stringMap {
		return r.otherMap(t, p, empty)
	}
	m := map[string]string{}
	*(*map[string]string)(p) = m
	for n := 1; !empty; n++ {
		key, ok := r.key()
		if !ok {
			return false
		}
		if r.peek() == 'n' { // null is the zero value
			if r.patching || !r.word("null") {
				return false
			}
			m[key] = ""
		} else if m[key], ok = r.text(nil); !ok {
			return false
		}
		if len(m) != n {
			return false
		}
		if more, ok := r.more('}'); !more {
			return ok
		}
	}
	return true
}

func (r *jsonReader) otherMap(t *Type, p unsafe.Pointer, empty bool) bool {
	m := reflect.MakeMap(t.goType)
	t.value(p).Set(m)
	for n := 1; !empty; n++ {
		key, ok := r.key()
		if !ok {
			return false
		}
		value := reflect.New(t.Elem.goType)
		if !r.value(t.Elem, value.UnsafePointer(), nil) {
			return false
		}
		if m.SetMapIndex(reflect.ValueOf(key).Convert(t.goType.Key()), value.Elem()); m.Len() != n {
			return false
		}
		if more, ok := r.more('}'); !more {
			return ok
		}
	}
	return true
}

// key reads the name of a member of a map, and the colon.
func (r *jsonReader) key() (string, bool) {
	r.peek()
	key, ok := r.text(nil)
	if !ok || r.peek() != ':' {
		return "", false
	}
	r.at++
	return key, true
}
