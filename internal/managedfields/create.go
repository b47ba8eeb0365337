package managedfields

import (
	"hash/adler32"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// created returns the managedFields of a new object, which are none if it has only system fields. Nearly every new object has the
// outline of another one, and so the set of that one, which takes a fraction of the time of a comparison with the empty object.
func (k *FieldManager) created(version int, obj Object, manager string, now time.Time) (entries []meta.ManagedFieldsEntry) {
	v := &k.Versions[version]
	id := updater(manager, v.APIVersion, "")
	v.scratch.Use(func(outline []byte) []byte {
		for _, member := range k.Reset {
			outline = append(append(outline, member...), 0)
		}
		outline, ok := v.Type.Value(obj).AppendOutline(outline)
		slot := &v.outlined[adler32.Checksum(outline)%uint32(len(v.outlined))]
		have := slot.Load()
		switch {
		case !ok || have == nil || have.outline != string(outline):
			os, _ := k.recordObjects(version, k.empty(version), obj, nil, id, false, now) // none after an error, as upstream
			if entries = os.encode(nil); ok && len(outline) <= maxOutline {
				slot.Store(newOutlined(outline, entries))
			}
		case have.fields != nil:
			made := &struct { // one block of memory
				entries [1]meta.ManagedFieldsEntry
				time    meta.Time
			}{time: meta.NewTime(now)}
			made.entries[0] = meta.ManagedFieldsEntry{
				Manager: id.Manager, Operation: id.Operation, APIVersion: id.APIVersion, Time: &made.time, FieldsType: "FieldsV1", FieldsV1: have.fields,
			}
			entries = made.entries[:]
		}
		return outline
	})
	return entries
}

// outlined is the set of the new objects with an outline, after the Reset of their manager, or nil if they have none.
type outlined struct {
	outline string
	fields  *meta.FieldsV1
}

// maxOutline is the length up to which outlines are kept, in bytes.
const maxOutline = 1024

func newOutlined(outline []byte, entries []meta.ManagedFieldsEntry) *outlined {
	if len(entries) == 0 {
		return &outlined{outline: string(outline)}
	}
	return &outlined{string(outline), entries[0].FieldsV1}
}
