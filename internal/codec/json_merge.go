package codec

import (
	"maps"
	"unsafe"
)

// MergeJSON applies a JSON merge patch (RFC 7386) to obj, which was decoded from JSON. The
// result is the one of merging and decoding documents. Nothing that obj refers to
// changes; the patch replaces it. If MergeJSON returns false, the patch
// has something unusual, and obj may be half merged: the caller must discard obj and
// merge documents.
func (t *Type) MergeJSON(patch []byte, obj any) bool {
	p := t.check(obj)
	if !t.readable {
		return false
	}
	r := jsonReader{data: patch, patching: true}
	return r.peek() == '{' && r.mergeStruct(t, p) && r.atEnd()
}

// mergeStruct reads the patch of a struct.
func (r *jsonReader) mergeStruct(t *Type, p unsafe.Pointer) bool {
	if empty, ok := r.open('}'); empty || !ok {
		return ok
	}
	var seen uint64
	for next := 0; ; {
		i := r.member(t, next)
		if i < 0 || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		next = i + 1
		if !r.mergeField(t.Fields[i], t.Fields[i].at(p)) {
			return false
		}
		if more, ok := r.more('}'); !more {
			return ok
		}
	}
}

// mergeField reads the patch of the field at p.
func (r *jsonReader) mergeField(f *Field, p unsafe.Pointer) bool {
	t := f.Type
	switch c := r.peek(); {
	case c == 'n': // null deletes
		f.setZero(p)
		return r.word("null")
	case t.shape == shapeStruct:
		if f.Pointer {
			q := (*unsafe.Pointer)(p)
			old := *q
			if p = t.allocate(q); old != nil {
				t.assign(p, old)
			}
		}
		return c == '{' && r.mergeStruct(t, p)
	case t.shape == shapeMap:
		return c == '{' && t.stringMap && r.mergeMap((*map[string]string)(p))
	}
	f.setZero(p)
	if f.Pointer {
		p = t.allocate((*unsafe.Pointer)(p))
	}
	return r.value(t, p, nil)
}

// setZero sets the field at p to its zero value.
func (f *Field) setZero(p unsafe.Pointer) {
	if f.Pointer {
		*(*unsafe.Pointer)(p) = nil
		return
	}
	f.Type.value(p).SetZero()
}

// mergeMap reads the patch of a map.
func (r *jsonReader) mergeMap(m *map[string]string) bool {
	empty, ok := r.open('}')
	if !ok {
		return false
	}
	if *m = maps.Clone(*m); *m == nil {
		*m = map[string]string{}
	}
	seen := map[string]bool{}
	for n := 1; !empty; n++ {
		key, ok := r.key()
		if !ok {
			return false
		}
		if seen[key] = true; len(seen) != n {
			return false
		}
		if r.peek() == 'n' {
			if !r.word("null") {
				return false
			}
			delete(*m, key)
		} else if (*m)[key], ok = r.text(nil); !ok {
			return false
		}
		if more, ok := r.more('}'); !more {
			return ok
		}
	}
	return true
}
