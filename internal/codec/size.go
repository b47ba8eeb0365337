package codec

import (
	"math/bits"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Size returns how many bytes AppendProto would append for obj, without making
// them. Members that have no type count about as much as they take in JSON.
func (t *Type) Size(obj any) int { return t.messageSize(t.check(obj)) }

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
	if t.Rest != nil {
		n += treeSize(*(*map[string]any)(t.Rest.at(p)))
	}
	return n
}

func (f *Field) entriesSize(p unsafe.Pointer) int {
	n := 0
	entry := func(key string, value int) { n += len(f.tag) + prefixed(1+prefixed(len(key))+1+value) }
	if f.Type.stringMap {
		for k, v := range *(*map[string]string)(p) {
			entry(k, prefixed(len(v)))
		}
		return n
	}
	var room [16]string
	for _, k := range f.Type.sortedKeys(room[:0], p) {
		entry(k, f.Type.Elem.valueSize(f.Type.mapValue(p, k)))
	}
	return n
}

func (t *Type) valueSize(p unsafe.Pointer) int {
	switch t.shape {
	case shapeBool:
		return 1
	case shapeInt32:
		return varintSize(uint64(*(*int32)(p)))
	case shapeInt64:
		return varintSize(uint64(*(*int64)(p)))
	case shapeFloat64:
		return 8
	case shapeString:
		return prefixed(len(*(*string)(p)))
	case shapeBytes:
		return prefixed(len(*(*[]byte)(p)))
	case shapeTime:
		return timestampSize((*meta.Time)(p).Unix(), 0, t.isZeroTime(p))
	case shapeMicroTime:
		s := (*meta.MicroTime)(p)
		return timestampSize(s.Unix(), wholeMicros(s.Time), t.isZeroTime(p))
	case shapeFieldsV1:
		raw := (*meta.FieldsV1)(p).Raw
		if len(raw) == 0 {
			return prefixed(0)
		}
		return prefixed(1 + prefixed(len(raw)))
	case shapeStruct:
		return prefixed(t.messageSize(p))
	}
	return 0
}

func timestampSize(seconds, nanos int64, zero bool) int {
	if zero {
		return prefixed(0)
	}
	return prefixed(2 + varintSize(uint64(seconds)) + varintSize(uint64(nanos)))
}

// prefixed is the size of n bytes with their length in front.
func prefixed(n int) int { return n + varintSize(uint64(n)) }

func varintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
