package registry

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/hub"
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
	obj     Object // handed out only by Stored
	version uint64 // of the change that made this state
	size    uint32 // see Store.bytes; once it is stored
	asked   atomic.Bool
	memo    atomic.Pointer[memo]
	account *account // of the memo; nil if the item is not stored
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

// GroupResource returns the object's group and resource.
func (it *Item) GroupResource() meta.GroupResource { return it.kind.groupResource() }

// UID returns the object's uid.
func (it *Item) UID() meta.UID { return it.meta().UID }

// ResourceVersion returns the object's resourceVersion, which is "" after a dry run of a
// create.
func (it *Item) ResourceVersion() string { return it.meta().ResourceVersion }

// Version returns the version of the change that made the state. After a dry run it is
// the version of the state before, or 0.
func (it *Item) Version() uint64 { return it.version }

// Size returns the size that the object is stored with, in bytes.
func (it *Item) Size() int { return int(it.size) }

// Metadata returns a deep copy of the object's metadata.
func (it *Item) Metadata() meta.ObjectMeta {
	return *it.Copy().GetObjectMeta()
}

// Copy returns a deep copy in the stored form.
func (it *Item) Copy() Object {
	return it.kind.forms[0].typ.Copy(it.obj).(Object)
}

// Stored returns the object itself, in the stored form. It must not be changed.
func (it *Item) Stored() Object { return it.obj }

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
// its index, without kind and apiVersion. The bytes must not be changed. They are
// remembered from the second call on: many objects are encoded once only, for the answer
// to their write.
func (it *Item) Encoded(version int, format Format) ([]byte, error) {
	head := it.memo.Load()
	form, data := it.remembered(head, version, format)
	if data != nil {
		return data, nil
	}
	f := it.kind.forms[form]
	data, err := it.kind.encode(f.typ, it.inForm(f), format)
	if err != nil || !it.asked.Swap(true) || !it.account.take(len(data)) {
		return data, err
	}
	// The loser of a race is not remembered.
	if !it.memo.CompareAndSwap(head, &memo{data, head, uint8(form), format}) {
		it.account.give(len(data))
	}
	return data, nil
}

// AppendJSON appends the bytes of Encoded in the format JSON, with room for one more. The
// first call of the two needs no memory of its own.
func (it *Item) AppendJSON(dst []byte, version int) ([]byte, error) {
	if !it.asked.Swap(true) {
		f := it.kind.forms[it.kind.versions[version].form]
		dst, err := f.typ.AppendJSON(dst, it.inForm(f))
		return slices.Grow(dst, 1), err
	}
	data, err := it.Encoded(version, JSON)
	return append(slices.Grow(dst, len(data)+1), data...), err
}

// remembered returns the form of a version, and the bytes in a list of memos or nil.
func (it *Item) remembered(m *memo, version int, format Format) (form int, data []byte) {
	form = it.kind.versions[version].form
	for ; m != nil; m = m.next {
		if int(m.form) == form && m.format == format {
			return form, m.data
		}
	}
	return form, nil
}

// inForm returns the object in a form. It must not be changed.
func (it *Item) inForm(f form) Object {
	if f.to != nil {
		return f.to(it.Copy())
	}
	return it.obj
}

// encode returns the encoded object in memory of its size. Room left over would be
// remembered too.
func (d *Kind) encode(typ *codec.Type, o Object, format Format) ([]byte, error) {
	return d.scratch.Bytes(func(dst []byte) ([]byte, error) {
		if format == Protobuf {
			return typ.AppendProto(dst, o), nil
		}
		return typ.AppendJSON(dst, o)
	})
}

// AppendMetadata appends the encoded metadata. It is not cached.
func (it *Item) AppendMetadata(dst []byte, format Format) ([]byte, error) {
	typ := it.kind.forms[0].typ.Field("metadata").Type
	if format == Protobuf {
		return typ.AppendProto(dst, it.meta()), nil
	}
	return typ.AppendJSON(dst, it.meta())
}

// Cells returns the cells of the object's row in a Table.
func (it *Item) Cells(now time.Time) []any { return it.kind.cells(it.obj, now) }

// renumbered returns the same content under another version.
func (it *Item) renumbered(version uint64) *Item {
	o := it.kind.forms[0].typ.CopyStruct(it.obj).(Object)
	setResourceVersion(o, version)
	return &Item{kind: it.kind, obj: o, version: version, account: it.account}
}

// lastState is the object of the Deleted event of a change that removes an object, or moves
// it out of the selector of a watch: the old content under the version of the change. It is
// made on demand.
type lastState struct{ item atomic.Pointer[Item] }

func (l *lastState) of(c *hub.Change[change]) *Item {
	if it := l.item.Load(); it != nil {
		return it
	}
	l.item.CompareAndSwap(nil, c.Payload.old.renumbered(c.Version))
	return l.item.Load()
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

// entry is an item in the tree. It repeats the key and the labels, so that a search does
// not have to load the objects it passes.
type entry struct {
	key
	item   *Item
	labels map[string]string
}

func entryLess(a, b entry) bool { return a.key.less(b.key) }

func (it *Item) key() key {
	m := it.meta()
	return key{m.Namespace, m.Name}
}

func (it *Item) entry() entry { return entry{it.key(), it, it.meta().Labels} }

// maxRemembered is the approximate limit of cached bytes per collection: a list may go beyond
// it, and the next list drops the rest.
const maxRemembered = 64 << 20

// memo caches the encoded bytes of an Item in one form and format. It is a list, since
// few items need more than one. BenchmarkEncoded: 12 ns instead of 4.7 us.
type memo struct {
	data   []byte
	next   *memo
	form   uint8
	format Format
}

// size returns the bytes of a list of memos.
func (m *memo) size() (n int64) {
	for ; m != nil; m = m.next {
		n += int64(len(m.data))
	}
	return n
}

// account counts the bytes that the items of a collection remember. Those of items that
// are no longer current are counted until the next trim. A nil account does not count.
type account struct {
	limit    int64
	used     atomic.Int64
	trimming sync.Mutex
}

// take reports whether n bytes more may be remembered, and counts them.
func (a *account) take(n int) bool {
	return a == nil || a.used.Add(int64(n)) <= 2*a.limit || a.give(n)
}

// give undoes take. It returns false.
func (a *account) give(n int) bool {
	if a != nil {
		a.used.Add(-int64(n))
	}
	return false
}

// trim drops half of what the collection remembers if that is too much.
func (r *Resource) trim() {
	a := r.account
	used := a.used.Load()
	if used <= a.limit || !a.trimming.TryLock() {
		return
	}
	defer a.trimming.Unlock()
	left := int64(0)
	r.snapshot().tree.Ascend(func(e entry) bool {
		if m := e.item.memo.Load(); m != nil {
			if left += m.size(); left > a.limit/2 {
				left -= m.size()
				e.item.memo.CompareAndSwap(m, nil)
			}
		}
		return true
	})
	a.used.Add(left - used)
}
