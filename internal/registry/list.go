package registry

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// List is a page of items, ordered by the bytes of "namespace/name".
type List struct {
	Items []*Item
	// ResourceVersion is the version of the state.
	ResourceVersion uint64
	// Continue is the token for the next page, or "".
	Continue string
	// RemainingItemCount is how many items follow, or nil if unknown.
	RemainingItemCount *int64
	// Shard is the canonical shardSelector, or "".
	Shard string
}

// Meta returns the metadata of the list.
func (l *List) Meta() meta.ListMeta {
	m := meta.ListMeta{
		ResourceVersion:    strconv.FormatUint(l.ResourceVersion, 10),
		Continue:           l.Continue,
		RemainingItemCount: l.RemainingItemCount,
	}
	if l.Shard != "" {
		m.ShardInfo = &meta.ShardInfo{Selector: l.Shard}
	}
	return m
}

// List returns a page of objects. It waits only for a version in the future, three
// seconds at most.
func (r *Resource) List(ctx context.Context, opts ListOptions) (*List, error) {
	sel, err := r.checkList(opts)
	if err != nil {
		return nil, err
	}
	if err := sel.parseShards(opts.ShardSelector, opts.Warn); err != nil {
		return nil, err
	}
	read, err := chooseList(opts, sel.single())
	if err != nil {
		return nil, err
	}
	r.snapshots.dropBefore(r.st.oldest())
	r.trim()
	s, err := r.stateFor(ctx, read)
	if err != nil {
		return nil, err
	}
	return sel.page(s, read.start, read.limit), nil
}

// CheckList validates the options of a list.
func (r *Resource) CheckList(opts ListOptions) error {
	_, err := r.checkList(opts)
	return err
}

func (r *Resource) checkList(opts ListOptions) (selection, error) {
	sel, err := r.parseSelection(opts.Namespace, opts.LabelSelector, opts.FieldSelector)
	if err != nil {
		return sel, err
	}
	if err := opts.validate(); err != nil {
		return sel, err
	}
	err = sel.checkFields("")
	if opts.Continue != "" {
		// The selector does not narrow the keys of later pages (upstream:
		// storage.SelectionPredicate.MatchesSingleNamespace). So if only the selector
		// names the namespace, its second page starts at the first key again.
		sel.namespace, sel.name = opts.Namespace, ""
	}
	return sel, err
}

// page returns the selected items of a state from a key on, at most limit items if limit
// is above zero.
func (s *selection) page(state snapshot, start string, limit int64) *List {
	l := &List{Items: []*Item{}, ResourceVersion: state.version, Shard: s.shards.String()}
	if limit == 0 {
		limit = math.MaxInt64
	}
	// In a namespace the start is a name; across all it is "namespace/name".
	from := key{s.namespace, start}
	if s.namespace == "" && !s.kind.clusterScoped {
		var whole bool
		if from.namespace, from.name, whole = strings.Cut(start, "/"); !whole {
			from.namespace += "\x00" // before every key that starts with it
		}
	}
	if s.single() {
		// One key, whatever the rest of the selector says.
		e, ok := state.tree.Get(entry{key: key{s.namespace, s.name}})
		if ok && !e.key.less(from) && s.matches(e.item) {
			l.Items = append(l.Items, e.item)
		}
		return l
	}
	remaining := int64(0)
	state.tree.AscendGreaterOrEqual(entry{key: from}, func(e entry) bool {
		if s.namespace != "" && e.namespace != s.namespace {
			return false
		}
		if int64(len(l.Items)) == limit {
			remaining++
			// The count is part of the answer only without a selector.
			return s.all()
		}
		if s.matches(e.item) {
			l.Items = append(l.Items, e.item)
		}
		return true
	})
	if remaining > 0 {
		last := l.Items[len(l.Items)-1]
		next := last.Name() + "\x00"
		if s.namespace == "" && !s.kind.clusterScoped {
			next = last.Namespace() + "/" + next
		}
		l.Continue = encodeContinue(int64(state.version), next)
		if s.all() {
			l.RemainingItemCount = &remaining
		}
	}
	return l
}
