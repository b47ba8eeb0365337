package codec

import (
	"reflect"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// managerLayout is the layout of the copy of an object with one manager, as nearly all
// objects have: the block also holds the entry of the manager and its set. A copy then
// takes two allocations less.
type managerLayout struct {
	block reflect.Type
	step  int     // the index of the step of managedFields
	list  uintptr // the offset of managedFields
	entry uintptr // the offset of the block of the entry
	items *copyLayout
	set   uintptr // the offset of the room for the set
	room  int     // in bytes
}

// minRoom is the least room for a set.
const minRoom = 192

// newManagerLayout returns the layout for objects with a layout whose block has these
// fields.
func newManagerLayout(r *copyLayout, fields []reflect.StructField, step int) *managerLayout {
	list := r.steps[step].field
	if list.Type.Elem.copyLayout == nil {
		list.Type.Elem.copyLayout = newCopyLayout(list.Type.Elem)
	}
	m := &managerLayout{step: step, list: r.steps[step].offset + list.offset, items: list.Type.Elem.copyLayout}
	fields = append(fields[:len(fields):len(fields)], reflect.StructField{Name: "Entry", Type: m.items.block})
	m.set = reflect.StructOf(fields).Size()
	// The room ends where the memory ends that the runtime takes for the block: a multiple
	// of 128 bytes, with a header of 8.
	m.room = int((m.set+minRoom+8+127)/128*128-8) - int(m.set)
	fields = append(fields, reflect.StructField{Name: "Set", Type: reflect.ArrayOf(m.room, reflect.TypeFor[byte]())})
	m.block = reflect.StructOf(fields)
	m.entry, m.set = m.block.Field(len(fields)-2).Offset, m.block.Field(len(fields)-1).Offset
	return m
}

// copy returns the address of a copy of the object at src, or nil if the object does not
// have one manager, or one whose set is too large.
func (m *managerLayout) copy(r *copyLayout, src unsafe.Pointer) unsafe.Pointer {
	entries := *(*[]meta.ManagedFieldsEntry)(unsafe.Add(src, m.list))
	if len(entries) != 1 || entries[0].FieldsV1 == nil || len(entries[0].FieldsV1.Raw) > m.room {
		return nil
	}
	dst := r.new(m.block, src)
	for i := range r.steps {
		if i != m.step {
			r.steps[i].run(dst, nil)
		}
	}
	entry := (*meta.ManagedFieldsEntry)(unsafe.Add(dst, m.entry))
	*entry = entries[0]
	for i := range m.items.steps {
		step := &m.items.steps[i]
		if step.field.Type.shape != shapeFieldsV1 {
			step.run(unsafe.Pointer(entry), nil)
			continue
		}
		set := (*meta.FieldsV1)(unsafe.Add(unsafe.Pointer(entry), step.valueOffset))
		if raw := entries[0].FieldsV1.Raw; raw != nil {
			set.Raw = unsafe.Slice((*byte)(unsafe.Add(dst, m.set)), len(raw))
			copy(set.Raw, raw)
		}
		entry.FieldsV1 = set
	}
	*(*[]meta.ManagedFieldsEntry)(unsafe.Add(dst, m.list)) = unsafe.Slice(entry, 1)
	return dst
}
