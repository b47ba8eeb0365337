package registry

import (
	"slices"
	"sync"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// snapshot is the state of one resource at one version of the store. Its tree
// is never written to, so any number of readers may share it.
type snapshot struct {
	tree    *btree.BTreeG[entry]
	version uint64 // the store's version it was taken at
}

// keptPast is how many reconstructed snapshots a resource keeps: enough for a
// few clients that page through old lists at once.
const keptPast = 4

// pastSnapshots remembers snapshots of older versions, the last used first.
type pastSnapshots struct {
	mu   sync.Mutex // guards kept
	kept []snapshot
}

// snapshot returns the current state. Cloning the tree costs nothing now, and
// a copy of a few nodes at the writes that follow; a tree that has not changed
// since is not cloned again.
func (r *Resource) snapshot() snapshot {
	r.st.mu.RLock()
	if s := r.fresh; s != nil {
		now := snapshot{s.tree, r.st.version}
		r.st.mu.RUnlock()
		return now
	}
	r.st.mu.RUnlock()
	r.st.mu.Lock()
	defer r.st.mu.Unlock()
	return r.snapshotLocked()
}

// snapshotLocked needs the writer's lock: Clone writes to the tree.
func (r *Resource) snapshotLocked() snapshot {
	if r.fresh == nil {
		r.fresh = &snapshot{r.tree.Clone(), r.st.version}
	}
	return snapshot{r.fresh.tree, r.st.version}
}

// errSnapshotGone says that history does not reach back to a version.
type errSnapshotGone struct{}

func (errSnapshotGone) Error() string { return "snapshot is gone" }

// at returns the state at an older version, made by undoing what history
// holds of the changes since. The error is errSnapshotGone.
func (r *Resource) at(version uint64) (snapshot, error) {
	now := r.snapshot()
	if version >= now.version {
		return now, nil
	}
	if version < r.st.hub.Oldest(r.st.now()) {
		return snapshot{}, errSnapshotGone{}
	}
	if s, ok := r.past.get(version); ok {
		return s, nil
	}
	// The tree of a shared snapshot must not be cloned without the lock.
	r.st.mu.Lock()
	now = r.snapshotLocked()
	tree := now.tree.Clone()
	r.st.mu.Unlock()
	for v := now.version; v > version; v-- {
		c := r.st.hub.Get(v)
		if c == nil {
			return snapshot{}, errSnapshotGone{}
		}
		if c.Collection != r.id {
			continue
		}
		if c.Payload.eventType == watch.Added {
			tree.Delete(c.Payload.new.entry())
		} else {
			tree.ReplaceOrInsert(c.Payload.old.entry())
		}
	}
	s := snapshot{tree, version}
	r.past.put(s)
	return s, nil
}

func (p *pastSnapshots) get(version uint64) (snapshot, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.kept {
		if s.version == version {
			copy(p.kept[1:], p.kept[:i])
			p.kept[0] = s
			return s, true
		}
	}
	return snapshot{}, false
}

func (p *pastSnapshots) put(s snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) < keptPast {
		p.kept = append(p.kept, snapshot{})
	}
	copy(p.kept[1:], p.kept)
	p.kept[0] = s
}

// all returns a copy of what is remembered.
func (p *pastSnapshots) all() []snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.kept)
}

// dropBefore lets go of snapshots that history no longer reaches back to.
func (p *pastSnapshots) dropBefore(oldest uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = slices.DeleteFunc(p.kept, func(s snapshot) bool { return s.version < oldest })
}

// expiredList is the answer to a list at a version that history has lost.
func expiredList() error {
	return meta.NewExpired("The resourceVersion for the provided list is too old.")
}
