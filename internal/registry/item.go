package registry

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Format is a wire format that objects are remembered in.
type Format uint8

// The formats.
const (
	JSON Format = iota
	Protobuf
	YAML // of bodies alone
)

// Item is one state of one object. It never changes and may be shared, by the
// forks of a store too.
type Item struct {
	kind    *Kind
	obj     Object // never handed out
	version uint64 // of the change that made this state
	slot    uint16 // where the object is in the hot table, once it is stored
	memo    atomic.Pointer[memo]
}

// memo remembers the encoded bytes of an Item in one form and format. Few
// items need more than one, so it is a list.
type memo struct {
	data   []byte
	next   *memo
	form   uint8
	format Format
}

// newItem takes ownership of obj.
func newItem(d *Kind, obj Object, version uint64) *Item {
	return &Item{kind: d, obj: obj, version: version}
}

func (it *Item) meta() *meta.ObjectMeta { return it.obj.GetObjectMeta() }

// Namespace returns the object's namespace.
func (it *Item) Namespace() string { return it.meta().Namespace }

// Name returns the object's name.
func (it *Item) Name() string { return it.meta().Name }

// GroupResource names the resource that the object is of.
func (it *Item) GroupResource() meta.GroupResource { return it.kind.groupResource() }

// UID returns the object's uid.
func (it *Item) UID() meta.UID { return it.meta().UID }

// ResourceVersion returns the object's resourceVersion, "" for the answer to
// a dry run of a create.
func (it *Item) ResourceVersion() string { return it.meta().ResourceVersion }

// Version returns the version of the change that made the state; of the answer to
// a dry run it is that of the state before, or 0.
func (it *Item) Version() uint64 { return it.version }

// Metadata returns a deep copy of the object's metadata.
func (it *Item) Metadata() meta.ObjectMeta {
	return *it.Copy().GetObjectMeta()
}

// Copy returns a deep copy in the stored form.
func (it *Item) Copy() Object {
	return it.kind.copy(it.obj)
}

// Wire returns a deep copy in the shape of one of the kind's versions, by its
// index, with kind and apiVersion set.
func (it *Item) Wire(version int) Object {
	f := it.kind.forms[it.kind.versions[version].form]
	o := it.Copy()
	if f.to != nil {
		o = f.to(o)
	}
	*o.GetTypeMeta() = it.kind.typeMeta(version)
	return o
}

// Encoded returns the object in the shape of one of the kind's versions, by
// its index, without kind and apiVersion. The bytes are made once and must not
// be changed.
func (it *Item) Encoded(version int, format Format) ([]byte, error) {
	form := it.kind.versions[version].form
	head := it.memo.Load()
	for m := head; m != nil; m = m.next {
		if int(m.form) == form && m.format == format {
			return m.data, nil
		}
	}
	f := it.kind.forms[form]
	o := it.obj
	if f.to != nil {
		o = f.to(it.Copy())
	}
	var data []byte
	var err error
	if format == Protobuf {
		data = f.typ.AppendProto(nil, o)
	} else {
		data, err = f.typ.AppendJSON(nil, o)
	}
	if err != nil {
		return nil, err
	}
	// Room left over would be remembered too.
	data = append(make([]byte, 0, len(data)), data...)
	// A race costs at most an encoding: whoever loses is not remembered.
	it.memo.CompareAndSwap(head, &memo{data, head, uint8(form), format})
	return data, nil
}

// EncodedMetadata returns the object's metadata alone. It is not remembered.
func (it *Item) EncodedMetadata(format Format) ([]byte, error) {
	typ := it.kind.forms[0].typ.Field("metadata").Type
	if format == Protobuf {
		return typ.AppendProto(nil, it.meta()), nil
	}
	return typ.AppendJSON(nil, it.meta())
}

// Cells returns the cells of the object's row in a Table.
func (it *Item) Cells(now time.Time) []any { return it.kind.cells(it.obj, now) }

// renumbered returns the same content under another version.
func (it *Item) renumbered(version uint64) *Item {
	o := it.Copy()
	o.GetObjectMeta().ResourceVersion = strconv.FormatUint(version, 10)
	return newItem(it.kind, o, version)
}

// leftItem makes the state in which an object leaves a selector's view: its
// old content under the version of the change. Most changes never need it.
type leftItem struct {
	once sync.Once
	item *Item
}

func (l *leftItem) of(old *Item, version uint64) *Item {
	l.once.Do(func() { l.item = old.renumbered(version) })
	return l.item
}

func (d *Kind) copy(o Object) Object { return d.forms[0].typ.Copy(o).(Object) }

func (d *Kind) typeMeta(version int) meta.TypeMeta {
	gv := meta.GroupVersion{Group: d.group, Version: d.versions[version].name}
	return meta.TypeMeta{Kind: d.name, APIVersion: gv.String()}
}
