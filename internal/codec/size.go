package codec

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Size returns how many bytes a real server stores for obj: the length of its
// protobuf message, or of its JSON if it has no protobuf form.
func (t *Type) Size(obj any) int {
	p := t.check(obj)
	if t.jsonOnly {
		data, _ := t.appendJSON(nil, p) // callers refuse values without JSON; see CheckJSON
		return len(data)
	}
	if t.boxed != nil {
		return obj.(*Box).message().Size()
	}
	return t.messageSize(p)
}

func (t *Type) messageSize(p unsafe.Pointer) int {
	n := 0
	for _, f := range t.numbered {
		q := f.target(p)
		switch {
		case q == nil:
		case f.Type.shape == shapeList:
			s := (*slice)(q)
			for i := range s.len {
				n += len(f.tag) + f.Type.Elem.valueSize(f.Type.item(s, i))
			}
		case f.Type.shape == shapeMap:
			n += f.entriesSize(q)
		case f.Type.shape == shapeBytes && (*slice)(q).data == nil:
		default:
			n += len(f.tag) + f.Type.valueSize(q)
		}
	}
	return n
}

func (f *Field) entriesSize(p unsafe.Pointer) int {
	n := 0
	entry := func(key string, value int) {
		n += len(f.tag) + protowire.SizeBytes(1+protowire.SizeBytes(len(key))+1+value)
	}
	if f.Type.stringMap {
		for k, v := range *(*map[string]string)(p) {
			entry(k, protowire.SizeBytes(len(v)))
		}
		return n
	}
	var buf [16]string
	for _, k := range f.Type.sortedKeys(buf[:0], p) {
		entry(k, f.Type.Elem.valueSize(f.Type.mapValue(p, k)))
	}
	return n
}

func (t *Type) valueSize(p unsafe.Pointer) int {
	switch t.shape {
	case shapeBool, shapeInt32, shapeInt64:
		return protowire.SizeVarint(uint64(t.integer(p)))
	case shapeFloat64:
		return 8
	}
	size := 0
	switch t.shape {
	case shapeString, shapeBytes:
		size = t.length(p)
	case shapeTime, shapeMicroTime:
		if !t.isZeroTime(p) {
			seconds, nanos := t.time(p)
			size = 2 + protowire.SizeVarint(uint64(seconds)) + protowire.SizeVarint(uint64(nanos))
		}
	case shapeFieldsV1:
		if raw := (*meta.FieldsV1)(p).Raw; len(raw) > 0 {
			size = 1 + protowire.SizeBytes(len(raw))
		}
	case shapeStruct:
		size = t.messageSize(p)
	}
	return protowire.SizeBytes(size)
}
