package registry

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Item is one state of one object. It never changes, and forks of a store share it.
type Item struct {
	kind    *kinds.Kind
	obj     kinds.Object // handed out only by Stored
	version uint64       // of the change that made this state
	size    uint32       // see Store.bytes; once it is stored
	marks   atomic.Uint32
	memo    atomic.Pointer[memo]
	// reading is the item as an object of a kind that has replaced its own, or nil.
	reading atomic.Pointer[Item]
	account *account // of the memo; nil if the item is not stored
}

// The marks of an Item. They share a field, with which it takes 64 bytes.
const (
	markAsked  uint32 = 1 << iota // for its bytes
	markFilled                    // by defaults that are not in storage: as upstream, the next write stores them, even if it changes nothing else
)

// fill marks an item that is not stored yet as filled, if it is.
func (it *Item) fill() { it.marks.Or(markFilled) }

func (it *Item) isFilled() bool { return it.marks.Load()&markFilled != 0 }

// ask reports whether the bytes were asked for before.
func (it *Item) ask() bool { return it.marks.Or(markAsked)&markAsked != 0 }

// newItem takes ownership of obj.
func newItem(d *kinds.Kind, obj kinds.Object, version uint64) *Item {
	return &Item{kind: d, obj: obj, version: version}
}

func setResourceVersion(o kinds.Object, version uint64) {
	o.GetObjectMeta().ResourceVersion = strconv.FormatUint(version, 10)
}

func (it *Item) meta() *meta.ObjectMeta { return it.obj.GetObjectMeta() }

// Namespace returns the object's namespace.
func (it *Item) Namespace() string { return it.meta().Namespace }

// Name returns the object's name.
func (it *Item) Name() string { return it.meta().Name }

// GroupResource returns the object's group and resource.
func (it *Item) GroupResource() meta.GroupResource { return it.kind.GroupResource() }

// UID returns the object's uid.
func (it *Item) UID() meta.UID { return it.meta().UID }

// ResourceVersion returns the object's resourceVersion, which is "" after a dry run of a create.
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

// Copy returns a deep copy in the stored form. It is nil for a nil Item.
func (it *Item) Copy() kinds.Object {
	if it == nil {
		return nil
	}
	return it.kind.Copy(it.obj)
}

// Stored returns the object itself, in the stored form. It must not be changed. It is nil for a nil Item.
func (it *Item) Stored() kinds.Object {
	if it == nil {
		return nil
	}
	return it.obj
}

// Wire returns a deep copy in the stored form, with kind and apiVersion set.
func (it *Item) Wire() kinds.Object {
	o := it.Copy()
	*o.GetTypeMeta() = it.kind.TypeMeta(0)
	return o
}

// WireIn is like Wire, in the shape of one of the kind's versions, by its index.
func (it *Item) WireIn(ctx context.Context, version int) (kinds.Object, error) {
	return it.kind.Wire(ctx, it.obj, version)
}

// Read converts the object for the answer of a get in one of the kind's versions, if that may fail. A real server converts what it reads
// from storage, so a get without a resourceVersion must not use the conversion that lists and watches share.
func (it *Item) Read(ctx context.Context, version int, reuse kind.Reuse) (*Item, error) {
	if !it.kind.Remembers(version) {
		return it, nil
	}
	o, err := it.kind.Convert(ctx, it.obj, 0, version, reuse)
	if err != nil {
		return nil, it.internalError(err)
	}
	return newItem(it.kind, o, it.version), nil
}

// notDecodable returns the error of a read from storage that cannot convert the object.
func (it *Item) notDecodable(err error) error {
	return fmt.Errorf("object not decodable revision=%d: %w", it.version, err)
}

// Corrupt returns the key of the object below a prefix, and the error of a read from storage by that key (upstream: apiserver, storage,
// NewCorruptObjError).
func (it *Item) Corrupt(prefix string, err error) (key string, _ error) {
	gr, m := it.kind.GroupResource(), it.obj.GetObjectMeta()
	key = path.Join(prefix+"/", gr.Group, gr.Resource, m.Namespace, m.Name)
	return key, fmt.Errorf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %w", key, it.notDecodable(err))
}

func (it *Item) internalError(err error) error {
	_, err = it.Corrupt("", err)
	return meta.NewInternalError(err)
}

// Encoded returns the object in the shape of one of the kind's versions, by its index, without kind and apiVersion.
// The bytes must not be changed. They are remembered from the second call on: many objects are encoded once only, for
// the answer to their write.
func (it *Item) Encoded(version int, format kinds.Format) ([]byte, error) {
	head := it.memo.Load()
	form, data := it.remembered(head, version, format)
	if data != nil {
		return data, nil
	}
	data, err := it.kind.Encode(it.obj, version, format)
	if err != nil || !it.ask() || !it.account.take(len(data)) {
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
	if !it.ask() {
		dst, err := it.kind.Append(dst, it.obj, version, kinds.JSON)
		return slices.Grow(dst, 1), err
	}
	data, err := it.Encoded(version, kinds.JSON)
	return append(slices.Grow(dst, len(data)+1), data...), err
}

// remembered returns the form of a version, and the bytes in a list of memos or nil.
func (it *Item) remembered(m *memo, version int, format kinds.Format) (form int, data []byte) {
	form = it.kind.Form(version)
	for ; m != nil; m = m.next {
		if int(m.form) == form && m.format == format {
			return form, m.data
		}
	}
	return form, nil
}

// AppendMetadata appends the encoded metadata. It is not cached.
func (it *Item) AppendMetadata(dst []byte, format kinds.Format) ([]byte, error) {
	return it.kind.AppendMetadata(dst, it.meta(), format)
}

// Cells returns the cells of the object's row in a Table of a version.
func (it *Item) Cells(ctx context.Context, version int, now time.Time) ([]any, error) {
	return it.kind.Cells(ctx, it.obj, version, now)
}

// RowConditions returns the conditions of that row.
func (it *Item) RowConditions() []any { return it.kind.RowConditions(it.obj) }

// DefaultRow returns the item of a list whose row is marked with (default), or nil.
func DefaultRow(k *kinds.Kind, items []*Item) (found *Item) {
	isDefault := k.DefaultRow()
	if isDefault == nil {
		return nil
	}
	var best kinds.Object
	for _, it := range items {
		if isDefault(it.obj, best) {
			found, best = it, it.obj
		}
	}
	return found
}

// renumbered returns the same content under another version.
func (it *Item) renumbered(version uint64) *Item {
	o := it.kind.Type().CopyStruct(it.obj).(kinds.Object)
	setResourceVersion(o, version)
	next := &Item{kind: it.kind, obj: o, version: version, account: it.account}
	if it.isFilled() {
		next.fill()
	}
	return next
}

// lastState is the object of the Deleted event of a change that removes an object, or moves it out of the selector of
// a watch: the old content under the version of the change. It is made on demand.
type lastState struct{ item atomic.Pointer[Item] }

func (l *lastState) of(c *hub.Change[change]) *Item {
	if it := l.item.Load(); it != nil {
		return it
	}
	l.item.CompareAndSwap(nil, c.Payload.old.renumbered(c.Version))
	return l.item.Load()
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
	format kinds.Format
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

// trim drops half of the remembered bytes of the collection if they are too many.
func (r *Resource) trim() {
	a := r.account
	used := a.used.Load()
	if used <= a.limit || !a.trimming.TryLock() {
		return
	}
	defer a.trimming.Unlock()
	left := int64(0)
	r.snapshot().tree.Ascend(func(e entry) bool {
		it := cmp.Or(e.item.reading.Load(), e.item)
		if m := it.memo.Load(); m != nil {
			if left += m.size(); left > a.limit/2 {
				left -= m.size()
				it.memo.CompareAndSwap(m, nil)
			}
		}
		return true
	})
	a.used.Add(left - used)
}
