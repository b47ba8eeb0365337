package codec

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// copyLayout is the memory layout of a copy: one block with the struct and the
// values of its pointers. A copy then takes one allocation instead of six.
type copyLayout struct {
	block  reflect.Type // the struct, then the values of its pointers
	steps  []copyStep   // to do after the struct was assigned
	nilPtr any          // a nil pointer to the struct
}

// copyStep detaches one member of a struct that has been assigned.
type copyStep struct {
	field       *Field
	offset      uintptr // of the struct that field is a member of
	valueOffset uintptr // of the pointer's value in the block; 0: it is not in the block
	sharesBase  bool    // a member of the metadata: uses the value of the base if it is equal
}

// firstCopies is how many copies of a type have no block. Few processes of tests make more,
// and to make the type of the first block takes 60 us.
const firstCopies = 8

// layout returns the layout of a copy.
func (t *Type) layout() *copyLayout {
	if r := t.blockLayout.Load(); r != nil {
		return r
	}
	if t.copies.Add(1) <= firstCopies {
		return t.copyLayout
	}
	r := newCopyLayout(t, true)
	t.blockLayout.Store(r)
	return r
}

// newCopyLayout returns the layout of the copies of a struct. Without a block each value of
// a pointer is allocated. The values of pointers in the metadata are not in the block, as
// the pointers are nearly always nil.
func newCopyLayout(t *Type, inBlock bool) *copyLayout {
	r := &copyLayout{nilPtr: reflect.Zero(t.ptrType).Interface()}
	fields := []reflect.StructField{{Name: "Value", Type: t.goType}}
	var pointers []int // indexes of the steps whose value is in the block, large values first
	var walk func(t *Type, base uintptr)
	walk = func(t *Type, base uintptr) {
		inMeta := t.goType == reflect.TypeFor[meta.ObjectMeta]()
		for _, f := range t.deep {
			step := copyStep{field: f, offset: base}
			switch {
			case f.Pointer && f.Type.shape != shapeStruct && !inMeta && inBlock:
				pointers = append(pointers, len(r.steps))
			case !f.Pointer && f.Type.shape == shapeStruct:
				walk(f.Type, base+f.offset)
				continue
			case inMeta:
				step.sharesBase = f.Type.nilable()
			}
			r.steps = append(r.steps, step)
		}
	}
	walk(t, 0)
	// So the block has no gaps.
	slices.SortStableFunc(pointers, func(i, j int) int {
		return cmp.Compare(r.steps[j].field.Type.goType.Align(), r.steps[i].field.Type.goType.Align())
	})
	for i, step := range pointers {
		f := r.steps[step].field
		fields = append(fields, reflect.StructField{Name: "P" + f.goName + string(rune('a'+i)), Type: f.Type.goType})
	}
	if r.block = t.goType; len(pointers) > 0 {
		r.block = reflect.StructOf(fields)
	}
	for i, step := range pointers {
		r.steps[step].valueOffset = r.block.Field(i + 1).Offset
	}
	return r
}

// new returns the address of a new block. Its struct is assigned from the struct at
// src.
func (r *copyLayout) new(block reflect.Type, src unsafe.Pointer) unsafe.Pointer {
	dst := reflect.New(block).UnsafePointer()
	reflect.ValueOf(r.asObject(dst)).Elem().Set(reflect.ValueOf(r.asObject(src)).Elem())
	return dst
}

// copy returns the address of a copy of the struct at src. base is nil, or has values to share.
func (r *copyLayout) copy(src unsafe.Pointer, base *meta.ObjectMeta) unsafe.Pointer {
	dst := r.new(r.block, src)
	for i := range r.steps {
		r.steps[i].run(dst, base)
	}
	return dst
}

// asObject returns p as a pointer to the struct. It is faster than reflect.NewAt,
// which looks up the type of the pointer each time.
func (r *copyLayout) asObject(p unsafe.Pointer) any {
	obj := r.nilPtr
	(*[2]unsafe.Pointer)(unsafe.Pointer(&obj))[1] = p
	return obj
}

// run does the step for the block at dst. base is nil, or has values to share.
func (s *copyStep) run(dst unsafe.Pointer, base *meta.ObjectMeta) {
	at := unsafe.Add(dst, s.offset)
	if s.sharesBase && base != nil {
		p, q := s.field.at(at), s.field.at(unsafe.Pointer(base))
		if s.field.equal(at, unsafe.Pointer(base)) {
			if s.field.Type.shape == shapeMap {
				*(*unsafe.Pointer)(p) = *(*unsafe.Pointer)(q)
			} else {
				*(*slice)(p) = *(*slice)(q)
			}
			return
		}
	}
	if s.valueOffset == 0 {
		s.field.detach(at)
		return
	}
	p := (*unsafe.Pointer)(s.field.at(at))
	if *p == nil {
		return
	}
	to := unsafe.Add(dst, s.valueOffset)
	s.field.Type.assign(to, *p)
	s.field.Type.detach(to)
	*p = to
}

// assign sets the value at p to the value at q.
func (t *Type) assign(p, q unsafe.Pointer) {
	switch t.shape { // frequent types without reflection
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
