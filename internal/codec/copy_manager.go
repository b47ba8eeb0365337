package codec

import (
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// managerLayout is the layout of the copy of an object with one manager, as nearly all
// objects have: the block also holds the entry of the manager and its set. A copy then
// takes two allocations less.
type managerLayout struct {
	fields []reflect.StructField // of the block of other copies
	once   sync.Once
	list   uintptr // the offset of managedFields
	entry  uintptr // the offset of the block of the entry
	items  *copyLayout
	set    uintptr // the offset of the room for the set
	rooms  [4]managerRoom
}

// managerRoom is a block with room for a set of at most bytes bytes.
type managerRoom struct {
	once  sync.Once
	block reflect.Type
	bytes int
}

// build makes the layout, except the blocks.
func (m *managerLayout) build(r *copyLayout) {
	list := r.steps[r.managers]
	m.list, m.items = list.offset+list.field.offset, newCopyLayout(list.field.Type.Elem, true)
	m.fields = append(slices.Clip(m.fields), reflect.StructField{Name: "Entry", Type: m.items.block})
	block := reflect.StructOf(m.fields)
	m.entry, m.set = block.Field(len(m.fields)-1).Offset, block.Size()
	// A room ends where the memory ends that the runtime takes for the block, less a header of
	// 8 bytes: at a multiple of 64 bytes, and above 768 bytes of 128.
	const header = 8
	end := m.set + header
	for i := range m.rooms {
		unit := uintptr(64)
		if end >= 768 {
			unit = 128
		}
		end = end/unit*unit + unit
		m.rooms[i].bytes = int(end - header - m.set)
	}
}

// roomFor returns the block with room for n bytes, or nil if that is too much.
func (m *managerLayout) roomFor(n int) reflect.Type {
	for i := range m.rooms {
		room := &m.rooms[i]
		if n > room.bytes {
			continue
		}
		room.once.Do(func() {
			set := reflect.StructField{Name: "Set", Type: reflect.ArrayOf(room.bytes, reflect.TypeFor[byte]())}
			room.block = reflect.StructOf(append(slices.Clip(m.fields), set))
		})
		return room.block
	}
	return nil
}

// copy returns the address of a copy of the object at src. It returns nil unless the object
// has exactly one manager, whose set fits into a room.
func (m *managerLayout) copy(r *copyLayout, src unsafe.Pointer) unsafe.Pointer {
	m.once.Do(func() { m.build(r) })
	entries := *(*[]meta.ManagedFieldsEntry)(unsafe.Add(src, m.list))
	if len(entries) != 1 || entries[0].FieldsV1 == nil {
		return nil
	}
	raw := entries[0].FieldsV1.Raw
	block := m.roomFor(len(raw))
	if block == nil {
		return nil
	}
	dst := r.new(block, src)
	for i := range r.steps {
		if i != r.managers {
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
		if set.Raw = raw[:0:0]; len(raw) > 0 {
			set.Raw = unsafe.Slice((*byte)(unsafe.Add(dst, m.set)), len(raw))
			copy(set.Raw, raw)
		}
		entry.FieldsV1 = set
	}
	*(*[]meta.ManagedFieldsEntry)(unsafe.Add(dst, m.list)) = unsafe.Slice(entry, 1)
	return dst
}
