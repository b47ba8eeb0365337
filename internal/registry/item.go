package registry

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Format is a wire format.
type Format uint8

// The formats.
const (
	JSON Format = iota
	Protobuf
	YAML // only of request bodies
)

// Item is one state of one object. It never changes, and forks of a store share it.
type Item struct {
	kind    *Kind
	obj     Object // never handed out
	version uint64 // of the change that made this state
	slot    uint16 // in the hot table, once it is stored
	memo    atomic.Pointer[memo]
}

// memo caches the encoded bytes of an Item in one form and format. It is a list, since
// few items need more than one. BenchmarkEncoded: 12 ns instead of 4.7 us.
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

// ResourceVersion returns the object's resourceVersion, which is "" after a dry run of a
// create.
func (it *Item) ResourceVersion() string { return it.meta().ResourceVersion }

// Version returns the version of the change that made the state. After a dry run it is
// the version of the state before, or 0.
func (it *Item) Version() uint64 { return it.version }

// Metadata returns a deep copy of the object's metadata.
func (it *Item) Metadata() meta.ObjectMeta {
	return *it.Copy().GetObjectMeta()
}

// Copy returns a deep copy in the stored form.
func (it *Item) Copy() Object {
	return it.kind.copy(it.obj)
}

// Borrow returns the stored object itself. It must not be changed.
func (it *Item) Borrow() Object { return it.obj }

// shallow returns a copy in which the fields of the metadata may be set. The values that
// they point to must not be changed.
func (it *Item) shallow() Object { return it.kind.forms[0].typ.Shallow(it.obj).(Object) }

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
	data, err := it.kind.encode(f.typ, o, format)
	if err != nil {
		return nil, err
	}
	// The loser of a race is not remembered.
	it.memo.CompareAndSwap(head, &memo{data, head, uint8(form), format})
	return data, nil
}

// encode returns the encoded object in memory of its size. Room left over would be
// remembered too.
func (d *Kind) encode(typ *codec.Type, o Object, format Format) (data []byte, err error) {
	scratch, _ := d.scratch.Get().(*[]byte)
	if scratch == nil {
		scratch = new([]byte)
	}
	if format == Protobuf {
		data = typ.AppendProto((*scratch)[:0], o)
	} else {
		data, err = typ.AppendJSON((*scratch)[:0], o)
	}
	out := bytes.Clone(data)
	const maxKept = 64 << 10
	if err == nil && cap(data) <= maxKept {
		*scratch = data
		d.scratch.Put(scratch)
	}
	return out, err
}

// EncodedMetadata returns the encoded metadata. It is not cached.
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
	o := it.shallow()
	o.GetObjectMeta().ResourceVersion = strconv.FormatUint(version, 10)
	return newItem(it.kind, o, version)
}

// deselectedItem is the object of the Deleted event that a watch sends when a change
// moves an object out of its selector: the old content under the version of the
// change. It is made on demand.
type deselectedItem struct {
	once sync.Once
	item *Item
}

func (l *deselectedItem) of(old *Item, version uint64) *Item {
	l.once.Do(func() { l.item = old.renumbered(version) })
	return l.item
}

func (d *Kind) copy(o Object) Object { return d.forms[0].typ.Copy(o).(Object) }

func (d *Kind) typeMeta(version int) meta.TypeMeta {
	return d.versions[version].named
}

// key identifies an object in its collection.
type key struct {
	namespace, name string
}

// less orders keys by the bytes of "namespace/name", the order of all lists. So
// namespace "a-b" comes before "a", since '-' is less than '/'.
func (k key) less(l key) bool {
	if k.namespace == l.namespace {
		return k.name < l.name
	}
	n := min(len(k.namespace), len(l.namespace))
	if c := strings.Compare(k.namespace[:n], l.namespace[:n]); c != 0 {
		return c < 0
	}
	if len(k.namespace) == n {
		return '/' < l.namespace[n]
	}
	return k.namespace[n] < '/'
}

// entry is an item in the tree. It repeats the key, so that a search does not have to
// load the objects it passes.
type entry struct {
	key
	item *Item
}

func entryLess(a, b entry) bool { return a.key.less(b.key) }

func (it *Item) key() key {
	m := it.meta()
	return key{m.Namespace, m.Name}
}

func (it *Item) entry() entry { return entry{it.key(), it} }
