package codec

import (
	"bytes"
	"reflect"
	"unsafe"
)

// mapCache holds maps that occurred before, with their JSON. Most objects have the labels
// of many others, so most maps need neither memory nor a reader.
type mapCache [64]struct {
	text []byte
	m    map[string]string
}

// The bounds of a map in the cache.
const (
	maxCachedMap     = 256 // bytes of JSON
	maxCachedEntries = 8
)

// constantMap reads an object into a map that never changes.
func (r *jsonReader) constantMap(t *Type, to *map[string]string) bool {
	start := r.at
	// The end may be that of a string that contains a brace; it only makes the hash.
	end := bytes.IndexByte(r.data[start:], '}') + 1
	if end <= 2 || end > maxCachedMap {
		return r.newMap(t, unsafe.Pointer(to))
	}
	if r.maps == nil {
		r.maps = new(mapCache)
	}
	slot := &r.maps[hashText(r.data[start:start+end])%uint64(len(r.maps))]
	// An object ends with its own brace, so what follows does not matter.
	if slot.m != nil && bytes.HasPrefix(r.data[start:], slot.text) {
		r.at += len(slot.text)
		*to = slot.m
		return true
	}
	if !r.newMap(t, unsafe.Pointer(to)) {
		return false
	}
	if size := r.at - start; size <= maxCachedMap && len(*to) <= maxCachedEntries {
		slot.text, slot.m = append(slot.text[:0], r.data[start:r.at]...), *to
	}
	return true
}

// mapValue reads an object into a map.
func (r *jsonReader) mapValue(t *Type, p unsafe.Pointer) bool {
	if t.stringMap && r.constant {
		return r.constantMap(t, (*map[string]string)(p))
	}
	return r.newMap(t, p)
}

// newMap is mapValue for a map that is not shared.
func (r *jsonReader) newMap(t *Type, p unsafe.Pointer) bool {
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
		} else if m[key], ok = r.text(); !ok {
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
	key, ok := r.text()
	if !ok || r.peek() != ':' {
		return "", false
	}
	r.at++
	return key, true
}
