package codec

import (
	"reflect"
	"time"
	"unsafe"
)

// Share gives obj the memory of old in the members in which the two are equal. It writes to the struct of obj alone, not to what that
// refers to. Neither object may change afterwards. It returns about how many bytes of memory only old refers to: as a Go value a definition
// takes ten times what is stored of it. obj may be nil.
func (t *Type) Share(obj, old any) (held int) {
	q, p := t.check(old), unsafe.Pointer(nil)
	if obj != nil {
		p = t.check(obj)
	}
	for _, f := range t.all {
		from := f.target(q)
		switch {
		case from == nil:
		case f == t.Rest:
			held += t.shareRest(p, q)
		case p == nil || !f.equal(p, q):
			held += memoryOf(f.Type.value(from))
		case f.Pointer:
			*(*unsafe.Pointer)(f.at(p)) = from
		default:
			f.Type.assign(f.at(p), from)
		}
	}
	return held
}

// shareRest is Share for the undeclared members. Others may read the map of obj, so it is replaced.
func (t *Type) shareRest(p, q unsafe.Pointer) (held int) {
	old, next := *t.rest(q), map[string]any{}
	if p != nil {
		for name, value := range *t.rest(p) {
			next[name] = value
		}
	}
	for name, value := range old {
		if have, ok := next[name]; ok && equalTree(have, value) {
			next[name] = value
		} else {
			held += memoryOf(reflect.ValueOf(value))
		}
	}
	if p != nil && len(next) > 0 {
		*t.rest(p) = next
	}
	return held
}

// memoryOf returns about how many bytes a value refers to.
func memoryOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		return int(v.Type().Elem().Size()) + memoryOf(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return 0
		}
		return int(v.Elem().Type().Size()) + memoryOf(v.Elem())
	case reflect.Slice:
		n = v.Cap() * int(v.Type().Elem().Size())
		if v.Type().Elem().Kind() > reflect.Complex128 {
			for i := range v.Len() {
				n += memoryOf(v.Index(i))
			}
		}
	case reflect.Map:
		const overhead = 16
		n = v.Len() * (overhead + int(v.Type().Key().Size()) + int(v.Type().Elem().Size()))
		for entries := v.MapRange(); entries.Next(); {
			n += memoryOf(entries.Key()) + memoryOf(entries.Value())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return 0 // locations are shared
		}
		for i := range v.NumField() {
			n += memoryOf(v.Field(i))
		}
	}
	return n
}
