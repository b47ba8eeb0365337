package registry

import (
	"sync/atomic"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// treeDegree balances the cost of a lookup and of the copies after a Clone.
const treeDegree = 16

// Resource is the untyped collection of one kind. All methods may be called from any goroutine.
//
// The Resource of an alias of a kind has the collection of the kind, and so its objects, history and watches.
type Resource struct {
	*kinds.Kind
	*collection
}

// collection has the objects of a Resource.
type collection struct {
	st *Store
	id int // in the history
	// since is the version before which the collection has no history: another kind had the objects, or none.
	since uint64
	// retired, once it is set, is why writes fail. It is set under st.mu, after until, the version of the last state.
	retired atomic.Pointer[meta.StatusError]
	until   uint64
	epoch   atomic.Int64 // see EndWatches
	// terminating is set while the definition of the kind is terminating. Then nothing may be created.
	terminating atomic.Bool

	// guarded by st.mu
	tree  *btree.BTreeG[entry]
	index *index    // of the tree; nil if the tree did not begin empty
	fresh *snapshot // of the current tree, or nil

	newest    atomic.Pointer[Item] // the state that was stored last, perhaps of an object that is gone
	account   *account
	snapshots snapshotCache
}

// retireLocked ends the writes to a collection. Its reads see the last state, at its version.
func (r *collection) retireLocked(why *meta.StatusError) {
	r.until = r.st.version
	r.retired.Store(why)
}

// of returns the Resource of a kind, or of one of its aliases, over the same collection. It is nil for nil.
func (r *Resource) of(k *kinds.Kind) *Resource {
	if r == nil || r.Kind == k {
		return r
	}
	return &Resource{k, r.collection}
}

// Store returns the store that the resource is in.
func (r *Resource) Store() *Store { return r.st }

// Len returns the number of objects of a kind. It is 0 for a kind that the store does not have.
func (st *Store) Len(d *kinds.Kind) int {
	if r, _ := st.Known(d); r != nil {
		return r.Len()
	}
	return 0
}

// Len returns the number of objects.
func (r *Resource) Len() int {
	r.st.mu.RLock()
	defer r.st.mu.RUnlock()
	return r.tree.Len()
}

// NotFound returns the error for a missing object.
func (r *Resource) NotFound(name string) error { return meta.NewNotFound(r.Kind.GroupResource(), name) }

// Empty returns the object of a bookmark, which has only a resourceVersion and annotations.
func (r *Resource) Empty(resourceVersion string, annotations map[string]string) *Item {
	o := r.Kind.New(0)
	m := o.GetObjectMeta()
	m.ResourceVersion, m.Annotations = resourceVersion, annotations
	return &Item{kind: r.Kind, obj: o}
}

// Peek returns the present state of an object without waiting, or nil if there is none.
func (r *Resource) Peek(namespace, name string) *Item {
	r.st.mu.RLock()
	it := r.lookupLocked(key{namespace, name})
	r.st.mu.RUnlock()
	return r.read(it)
}

// Newest returns the object that was stored last, as it is, or nil: most new objects of a kind have equal parts.
func (r *Resource) Newest() kinds.Object {
	if it := r.newest.Load(); it != nil && it.kind == r.Kind {
		return it.obj
	}
	return nil
}

// lookup returns the current state of an object, or nil.
func (r *Resource) lookup(k key) *Item { return r.Peek(k.namespace, k.name) }

// lookupLocked returns the current state of an object as it was stored, maybe under another kind; see Resource.read.
func (r *Resource) lookupLocked(k key) *Item {
	if it, certain := r.index.find(k); certain {
		return it
	}
	e, _ := r.tree.Get(entry{key: k})
	return e.item
}
