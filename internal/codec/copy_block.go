package codec

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// copier copies structs of one type. A copy is one block of memory, with the values of the struct's pointers: with an allocation
// for each, a Get of a Lease takes half as long again (internal/test/kube/clients/bench, BenchmarkAgainstFake/elected/go/get).
type copier struct {
	block reflect.Type // the struct, then the values of its pointers
	steps []copyStep   // to do after the struct was assigned
}

// copyStep detaches one member of a struct that has been assigned.
type copyStep struct {
	field       *Field
	offset      uintptr // of the struct that has the field
	value       int     // the member of the block that has the pointer's value; 0: none
	valueOffset uintptr
	sharesBase  bool // a member of the metadata: uses the value of the base if it is equal
}

// newCopier returns the copier of a struct. The values of pointers in the metadata are not in
// the block, as the pointers are nearly always nil.
func newCopier(t *Type) *copier {
	c := &copier{}
	fields := []reflect.StructField{{Name: "Value", Type: t.goType}}
	var walk func(t *Type, offset uintptr)
	walk = func(t *Type, offset uintptr) {
		inMeta := t.goType == reflect.TypeFor[meta.ObjectMeta]()
		for _, f := range t.deep {
			if !f.Pointer && f.Type.shape == shapeStruct {
				walk(f.Type, offset+f.offset)
				continue
			}
			step := copyStep{field: f, offset: offset, sharesBase: inMeta && f.Type.nilable()}
			if f.Pointer && f.Type.shape != shapeStruct && !inMeta {
				step.value = len(fields)
				fields = append(fields, reflect.StructField{Name: "P" + strconv.Itoa(step.value), Type: f.Type.goType})
			}
			c.steps = append(c.steps, step)
		}
	}
	walk(t, 0)
	c.block = t.goType
	if len(fields) > 1 {
		c.block = reflect.StructOf(fields)
	}
	for i, step := range c.steps {
		if step.value > 0 {
			c.steps[i].valueOffset = c.block.Field(step.value).Offset
		}
	}
	return c
}

// copy returns the address of a copy of the struct of type t at src. base is nil, or has values
// to share.
func (t *Type) copy(src unsafe.Pointer, base *meta.ObjectMeta) unsafe.Pointer {
	c := t.copier.Load()
	if c == nil {
		c = newCopier(t)
		t.copier.Store(c)
	}
	dst := reflect.New(c.block).UnsafePointer()
	t.assign(dst, src)
	for i := range c.steps {
		c.steps[i].run(dst, base)
	}
	return dst
}

// run does the step for the block at dst.
func (s *copyStep) run(dst unsafe.Pointer, base *meta.ObjectMeta) {
	at, f := unsafe.Add(dst, s.offset), s.field
	if s.sharesBase && base != nil && f.equal(at, unsafe.Pointer(base)) {
		f.Type.assign(f.at(at), f.at(unsafe.Pointer(base)))
		return
	}
	if s.value == 0 {
		f.detach(at)
		return
	}
	if p := (*unsafe.Pointer)(f.at(at)); *p != nil {
		to := unsafe.Add(dst, s.valueOffset)
		f.Type.assign(to, *p)
		f.Type.detach(to)
		*p = to
	}
}
