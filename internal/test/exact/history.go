package exact

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/watch"
)

// key names an object.
type key struct{ namespace, name string }

// String returns the key in the order of lists, such as "default/a".
func (k key) String() string { return k.namespace + "/" + k.name }

// Change is one change in the history of a store.
type Change struct {
	Type    watch.EventType
	Version uint64
	// Old is the state before, nil if there was none. New is the state after. For a deletion it is the last state with the version of
	// the deletion.
	Old *State
	New State
}

// History is all changes of a store since it was empty.
type History struct {
	Changes []Change
	// Limit is the number of changes that the store keeps for watches and old lists.
	Limit int
	// Forked is the version at which the store was forked from another one, or 0.
	Forked uint64
	// Lost is the last version at which a store on a backend had lost changes, or the kind changed, or 0.
	Lost  uint64
	first uint64 // the version before the first change
	end   uint64 // the last version
	gaps  bool   // versions may have no change, or several
	byKey map[key][]int
	keys  []key // in the order of lists
}

// Recorder keeps all changes of a store, which holds only Leases.
type Recorder struct {
	mu      sync.Mutex
	first   uint64 // the version before the first change
	forked  uint64
	changes []registry.ObjectChange
}

// Record returns a Recorder of a store.
func Record(st *registry.Store) *Recorder {
	r := &Recorder{}
	st.Observe(r)
	return r
}

// Fork returns a Recorder of a new fork of the store.
func (r *Recorder) Fork(st *registry.Store) *Recorder {
	f := Record(st)
	r.mu.Lock()
	defer r.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	n, _ := slices.BinarySearchFunc(r.changes, f.first+1, func(c registry.ObjectChange, v uint64) int { return cmp.Compare(c.Version, v) })
	f.first, f.forked, f.changes = r.first, f.first, slices.Concat(r.changes[:n], f.changes)
	return f
}

// Begin implements registry.Observer.
func (r *Recorder) Begin(version uint64, _ bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.first = version
}

// Changed implements registry.Observer.
func (r *Recorder) Changed(_ context.Context, c registry.ObjectChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, c)
}

// History returns all changes up to now.
func (r *Recorder) History(limit int) *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := &History{Limit: limit, first: r.first, Forked: r.forked}
	for _, c := range r.changes {
		n := Change{Type: c.Type(), Version: c.Version, New: stateOf(c.Newest().Copy().(*lease.Lease))}
		n.New.Version = c.Version
		if c.Old != nil {
			old := stateOf(c.Old.Copy().(*lease.Lease))
			n.Old = &old
		}
		h.Changes = append(h.Changes, n)
	}
	h.end = h.first + uint64(len(h.Changes))
	h.index()
	return h
}

// NewBackendHistory returns the history of the stores on a backend, from what the backend has had: all changes from version first on, up
// to version end. Changes of other kinds are left out.
func NewBackendHistory(first, end uint64, changes []backend.Stored, limit int) (*History, error) {
	h := &History{Limit: limit, first: first, end: end, gaps: true}
	leases := codec.MustCompile(reflect.TypeFor[lease.Lease](), "v1")
	now := map[string]*State{}
	for _, s := range changes {
		if !strings.HasPrefix(s.Key, "leases/") {
			continue
		}
		c := Change{Type: watch.Modified, Version: s.Version, Old: now[s.Key]}
		if s.Value == nil {
			c.Type, c.New = watch.Deleted, *c.Old
		} else {
			envelope, err := codec.OpenEnvelope(s.Value)
			if err != nil {
				return nil, fmt.Errorf("key %s: %w", s.Key, err)
			}
			var l lease.Lease
			if err := leases.DecodeProto(envelope.Raw, &l); err != nil {
				return nil, fmt.Errorf("key %s: %w", s.Key, err)
			}
			c.New = stateOf(&l)
		}
		c.New.Version = s.Version
		if c.Old == nil {
			c.Type = watch.Added
		}
		if now[s.Key] = &c.New; s.Value == nil {
			delete(now, s.Key)
		}
		h.Changes = append(h.Changes, c)
	}
	h.index()
	return h, nil
}

func (h *History) index() {
	h.byKey, h.keys = map[key][]int{}, nil
	for i, c := range h.Changes {
		k := c.New.key()
		if h.byKey[k] == nil {
			h.keys = append(h.keys, k)
		}
		h.byKey[k] = append(h.byKey[k], i)
	}
	slices.SortFunc(h.keys, func(a, b key) int { return cmp.Compare(a.String(), b.String()) })
}

// last returns the last version.
func (h *History) last() uint64 { return h.end }

// after returns the index of the first change after a version.
func (h *History) after(version uint64) int {
	i, _ := slices.BinarySearchFunc(h.Changes, version+1, func(c Change, v uint64) int { return cmp.Compare(c.Version, v) })
	return i
}

// change returns the change of an object that made a version, or nil.
func (h *History) change(k key, version uint64) *Change {
	for i := h.after(version - 1); i < len(h.Changes) && h.Changes[i].Version == version; i++ {
		if h.Changes[i].New.key() == k {
			return &h.Changes[i]
		}
	}
	return nil
}

// count returns the number of changes after a version up to another one.
func (h *History) count(after, until uint64) int { return max(h.after(until)-h.after(after), 0) }

// at returns the state of an object at a version, or nil.
func (h *History) at(k key, version uint64) *State {
	changes := h.byKey[k]
	n, _ := slices.BinarySearchFunc(changes, version+1, func(i int, v uint64) int { return cmp.Compare(h.Changes[i].Version, v) })
	if n == 0 || h.Changes[changes[n-1]].Type == watch.Deleted {
		return nil
	}
	return &h.Changes[changes[n-1]].New
}

// next returns the first version from floor on at which the state of an object fulfills ok, or 0.
func (h *History) next(k key, floor uint64, ok func(*State) bool) uint64 {
	if ok(h.at(k, floor)) {
		return floor
	}
	for _, i := range h.byKey[k] {
		if c := &h.Changes[i]; c.Version > floor && ok(h.at(k, c.Version)) {
			return c.Version
		}
	}
	return 0
}

// scope is the objects that a list or a watch selects.
type scope struct{ namespace, name, color string }

func (sc scope) has(s *State) bool {
	return s != nil && (sc.namespace == "" || s.Namespace == sc.namespace) && (sc.name == "" || s.Name == sc.name) &&
		(sc.color == "" || s.Color == sc.color)
}

// list returns the selected objects at a version, after a key.
func (h *History) list(sc scope, version uint64, after string) (items []State) {
	for _, k := range h.keys {
		if s := h.at(k, version); sc.has(s) && k.String() > after {
			items = append(items, *s)
		}
	}
	return items
}

// events returns the first events of a watch that begins after a version, at most so many.
func (h *History) events(sc scope, version uint64, most int) (events []Event) {
	for i := h.after(version); i < len(h.Changes) && len(events) < most; i++ {
		c := &h.Changes[i]
		was, is := sc.has(c.Old), c.Type != watch.Deleted && sc.has(&c.New)
		switch {
		case was && is:
			events = append(events, Event{Type: watch.Modified, State: c.New})
		case is:
			events = append(events, Event{Type: watch.Added, State: c.New})
		case was && c.Type == watch.Deleted:
			events = append(events, Event{Type: watch.Deleted, State: c.New})
		case was: // the old content with the new version
			s := *c.Old
			s.Version = c.Version
			events = append(events, Event{Type: watch.Deleted, State: s})
		}
	}
	return events
}
