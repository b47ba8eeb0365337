package codec

import (
	"reflect"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// room is the memory layout of a copy: the struct, followed by the values its
// pointers point to. One allocation instead of six makes copies cheap.
type room struct {
	piece reflect.Type // the struct, then the values of its pointers
	steps []copyStep   // what remains to do after an assignment
	nilT  any          // a nil pointer to the struct
}

// copyStep detaches one member of a struct that has been assigned.
type copyStep struct {
	field  *Field
	offset uintptr // of the struct that field is a member of
	place  uintptr // of the pointer's value in the piece; 0: none
	shares bool    // takes the base's value where that is equal
}

// newRoom lays out the copies of a struct. Pointers of the metadata have no place
// in it, as they are nearly always nil.
func newRoom(t *Type) *room {
	r := &room{nilT: reflect.Zero(t.ptrType).Interface()}
	fields := []reflect.StructField{{Name: "Value", Type: t.goType}}
	var pointers []int // indexes of the steps that need a place
	var walk func(t *Type, base uintptr)
	walk = func(t *Type, base uintptr) {
		inMeta := t.goType == reflect.TypeFor[meta.ObjectMeta]()
		for _, f := range t.deep {
			step := copyStep{field: f, offset: base}
			switch {
			case f.Pointer && f.Type.shape != shapeStruct && !inMeta:
				pointers = append(pointers, len(r.steps))
				fields = append(fields, reflect.StructField{Name: "P" + f.goName + string(rune('a'+len(fields))), Type: f.Type.goType})
			case !f.Pointer && f.Type.shape == shapeStruct:
				walk(f.Type, base+f.offset)
				continue
			case inMeta:
				step.shares = f.Type.refers()
			}
			r.steps = append(r.steps, step)
		}
	}
	walk(t, 0)
	r.piece = reflect.StructOf(fields)
	for i, step := range pointers {
		r.steps[step].place = r.piece.Field(i + 1).Offset
	}
	return r
}

// new returns the address of a new piece, whose struct is assigned from the struct
// at src.
func (r *room) new(src unsafe.Pointer) unsafe.Pointer {
	dst := reflect.New(r.piece).UnsafePointer()
	reflect.ValueOf(r.asObject(dst)).Elem().Set(reflect.ValueOf(r.asObject(src)).Elem())
	return dst
}

// asObject returns p as a pointer to the struct. reflect.NewAt does the same, but
// looks up the type of the pointer each time.
func (r *room) asObject(p unsafe.Pointer) any {
	obj := r.nilT
	(*[2]unsafe.Pointer)(unsafe.Pointer(&obj))[1] = p
	return obj
}

// run does the step for the piece at dst. base is nil, or a struct of the same
// type with values to share.
func (s *copyStep) run(dst, base unsafe.Pointer) {
	at := unsafe.Add(dst, s.offset)
	if s.shares && base != nil {
		p, q := s.field.at(at), s.field.at(unsafe.Add(base, s.offset))
		if s.field.equal(at, unsafe.Add(base, s.offset)) {
			if s.field.Type.shape == shapeMap {
				*(*unsafe.Pointer)(p) = *(*unsafe.Pointer)(q)
			} else {
				*(*slice)(p) = *(*slice)(q)
			}
			return
		}
	}
	if s.place == 0 {
		s.field.detach(at)
		return
	}
	p := (*unsafe.Pointer)(s.field.at(at))
	if *p == nil {
		return
	}
	to := unsafe.Add(dst, s.place)
	s.field.Type.assign(to, *p)
	s.field.Type.detach(to)
	*p = to
}

// assign sets the value at p to the one at q.
func (t *Type) assign(p, q unsafe.Pointer) {
	switch t.shape { // the frequent ones without reflection
	case shapeString:
		*(*string)(p) = *(*string)(q)
	case shapeInt32:
		*(*int32)(p) = *(*int32)(q)
	case shapeInt64:
		*(*int64)(p) = *(*int64)(q)
	case shapeBool:
		*(*bool)(p) = *(*bool)(q)
	case shapeTime:
		*(*meta.Time)(p) = *(*meta.Time)(q)
	case shapeMicroTime:
		*(*meta.MicroTime)(p) = *(*meta.MicroTime)(q)
	default:
		t.value(p).Set(t.value(q))
	}
}
