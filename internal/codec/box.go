package codec

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Box is an object of a type of a Library, such as a Pod of k8s.io/api, as the packages of this module take objects. The value
// stays as it is; the Box lends the memory of its type and metadata.
type Box struct {
	typ      *Type
	value    any
	named    *meta.TypeMeta
	metadata *meta.ObjectMeta
}

// GetTypeMeta returns the kind and apiVersion of the object, to be read and changed.
func (b *Box) GetTypeMeta() *meta.TypeMeta { return b.named }

// GetObjectMeta returns the metadata of the object, to be read and changed.
func (b *Box) GetObjectMeta() *meta.ObjectMeta { return b.metadata }

// Value returns the object: a pointer to a struct of the Library.
func (b *Box) Value() any { return b.value }

// Member returns a value in the object by the names of the members that lead to it.
func (b *Box) Member(path ...string) Value {
	v := b.typ.Value(b)
	for _, name := range path {
		v = v.Member(name)
	}
	return v
}

// Box returns an object of the compiled type, a pointer to a struct of a Library, in a Box. It panics for another type.
func (t *Type) Box(obj any) *Box {
	v := reflect.ValueOf(obj)
	if v.Type() != t.ptrType || v.IsNil() {
		panic(fmt.Sprintf("codec: got %T, want a non-nil %v", obj, t.ptrType))
	}
	return t.box(v)
}

func (t *Type) box(v reflect.Value) *Box {
	p := v.UnsafePointer()
	return &Box{t, v.Interface(), (*meta.TypeMeta)(unsafe.Add(p, t.boxed.named)), (*meta.ObjectMeta)(unsafe.Add(p, t.boxed.metadata))}
}

// open returns the address of the struct in a Box. It panics for another object.
func (t *Type) open(obj any) unsafe.Pointer {
	b, ok := obj.(*Box)
	if !ok || b == nil || b.typ.goType != t.goType {
		panic(fmt.Sprintf("codec: got %T, want a Box of %v", obj, t.goType))
	}
	return reflect.ValueOf(b.value).UnsafePointer()
}

// message is the protobuf form of the types of k8s.io/api.
type message interface {
	Unmarshal(data []byte) error
	Size() int
	MarshalToSizedBuffer(data []byte) (int, error)
}

func (b *Box) message() message { return b.value.(message) }

// appendMessage appends the message of an object. As upstream's, it has neither kind nor apiVersion, which are in the envelope.
func (b *Box) appendMessage(dst []byte) []byte {
	m := b.message()
	size := m.Size()
	out := append(dst, make([]byte, size)...)
	if n, err := m.MarshalToSizedBuffer(out[len(dst):]); err != nil || n != size {
		panic(fmt.Sprintf("codec: %T: the message has %d bytes, want %d: %v", b.value, n, size, err)) // generated code has no errors
	}
	return out
}

// Settle gives an object of a Library the form that it has after it was stored, in protobuf: it does not distinguish an empty list
// or map from one that is not set, and has no null in a map of bytes. It makes the object ready to be shared. Objects of other types
// are left as they are, since a copy of them has no empty lists and maps.
func (t *Type) Settle(obj any) {
	if t.boxed != nil {
		t.settle(t.open(obj))
	}
}

func (t *Type) settle(p unsafe.Pointer) {
	switch {
	case t.custom != nil && t.custom.settle != nil:
		t.custom.settle(p)
	case t.shape == shapeStruct:
		for _, f := range t.deep {
			q := f.target(p)
			switch {
			case q == nil:
			case (f.Type.shape == shapeList || f.Type.shape == shapeMap) && f.Type.length(q) == 0:
				f.setZero(f.at(p))
			default:
				f.Type.settle(q)
			}
		}
	case t.shape == shapeList && !t.Elem.flat:
		s := (*slice)(p)
		for i := range s.len {
			t.Elem.settle(t.item(s, i))
		}
	case t.shape == shapeMap && !t.Elem.flat:
		m := t.value(p)
		for key, value := range m.Seq2() {
			v := t.copyMapValue(value)
			if b := (*[]byte)(v); t.Elem.shape == shapeBytes && *b == nil {
				*b = []byte{}
			}
			t.Elem.settle(v)
			m.SetMapIndex(key, reflect.NewAt(t.goType.Elem(), v).Elem())
		}
	}
}
