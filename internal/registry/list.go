package registry

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// List is a page of items, ordered by the bytes of "namespace/name".
type List struct {
	// Items must not be changed: later lists share the slice.
	Items []*Item
	// ResourceVersion is the version of the state.
	ResourceVersion uint64
	// Continue is the token for the next page, or "".
	Continue string
	// RemainingItemCount is how many items follow, or nil if unknown.
	RemainingItemCount *int64
	// Shard is the canonical shardSelector, or "".
	Shard string

	page *page
	kind *kinds.Kind
	made bool // the objects have no versions
}

// Joined returns the joined items of the list that Remember stored since the last change. If
// it returns nil, the caller should join up to limit bytes, if that is not 0, and store them.
func (l *List) Joined(version int, f kinds.Format) (data []byte, limit int) {
	return l.page.joinedAs(l.kind.Form(version), f)
}

// Remember stores the joined items of the list for Joined.
func (l *List) Remember(version int, f kinds.Format, data []byte) {
	l.page.remember(l.kind.Form(version), f, data)
}

// Meta returns the metadata of the list.
func (l *List) Meta() meta.ListMeta {
	m := meta.ListMeta{
		ResourceVersion:    strconv.FormatUint(l.ResourceVersion, 10),
		Continue:           l.Continue,
		RemainingItemCount: l.RemainingItemCount,
	}
	if l.made {
		m.ResourceVersion = ""
	}
	if l.Shard != "" {
		m.ShardInfo = &meta.ShardInfo{Selector: l.Shard}
	}
	return m
}

// List returns a page of objects. It waits only for a version in the future, three seconds at most.
func (r *Resource) List(ctx context.Context, opts ListOptions) (*List, error) {
	if objects, ok := r.Kind.Made(); ok {
		return r.listMade(objects, opts)
	}
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
	if err := r.CheckKey(opts.Namespace, sel.name); err != nil {
		return nil, err
	}
	r.snapshots.dropBefore(r.st.oldest())
	r.trim()
	s, err := r.stateFor(ctx, read, opts.Waiting)
	if err != nil {
		return nil, err
	}
	if err := r.st.engine.checkReadable(r, sel.namespace, sel.name, s.version); err != nil {
		return nil, err
	}
	q := query{
		namespace: opts.Namespace, labels: opts.LabelSelector, fields: opts.FieldSelector, shards: opts.ShardSelector,
		paged: read.paged, start: read.start, limit: read.limit,
	}
	if sel.converts() {
		q.version = opts.Version
	}
	p := s.pages.get(q)
	if p == nil {
		if p, err = sel.page(ctx, s, q); err != nil {
			return nil, err
		}
		s.pages.put(p)
	}
	return sel.list(p, s.version), nil
}

// CheckList validates the options of a list.
func (r *Resource) CheckList(opts ListOptions) error {
	_, err := r.checkList(opts)
	return err
}

func (r *Resource) checkList(opts ListOptions) (selection, error) {
	sel, err := r.parseSelection(&opts, false)
	if opts.Continue != "" {
		// The selector does not narrow the keys of later pages (upstream:
		// storage.SelectionPredicate.MatchesSingleNamespace). So if only the selector
		// names the namespace, its second page starts at the first key again.
		sel.namespace, sel.name = opts.Namespace, ""
	}
	return sel, err
}

// list returns a page as it is at a version.
func (s *selection) list(p *page, version uint64) *List {
	l := &List{Items: p.items, ResourceVersion: version, Shard: s.shards.String(), page: p, kind: s.kind}
	if p.next != "" {
		l.Continue = encodeContinue(int64(version), "/"+p.next)
		if s.all() {
			l.RemainingItemCount = new(p.remaining) // the page is shared
		}
	}
	return l
}

// checkEvery is how many objects a loop visits before it looks at its context.
const checkEvery = 1024

// page returns the selected items of a state from the start of a query on, at most limit
// items if limit is above zero. The error is the error of the context.
func (s *selection) page(ctx context.Context, state snapshot, q query) (*page, error) {
	p := &page{query: q}
	var err error
	if p.items, p.next, err = s.items(ctx, state, q.start, q.limit); err != nil {
		return nil, err
	}
	if p.next != "" && s.all() {
		var count int64
		count, err = state.count(ctx, s.namespace, s.from(q.start), q)
		p.remaining = count - int64(len(p.items))
	}
	return p, err
}

// from returns the first key of a list that starts at a text. In a namespace the start is a
// name; across all it is "namespace/name".
func (s *selection) from(start string) key {
	from := key{s.namespace, start}
	if s.namespace == "" && !s.kind.Info().ClusterScoped {
		var whole bool
		if from.namespace, from.name, whole = strings.Cut(start, "/"); !whole {
			from.namespace += "\x00" // before every key that starts with it
		}
	}
	return from
}

// items returns the selected items of a state from a start on, at most limit items if limit is
// above zero. next is the start of those that follow, or "". The error is the error of the context.
func (s *selection) items(ctx context.Context, state snapshot, start string, limit int64) (items []*Item, next string, err error) {
	items = []*Item{}
	from := s.from(start)
	if s.single() {
		// One key, whatever the rest of the selector says.
		e, ok := state.tree.Get(entry{key: key{s.namespace, s.name}})
		if it := e.item.under(s.kind); ok && !e.key.less(from) && s.matches(it) {
			items = append(items, it)
		}
		return items, "", nil
	}
	if limit == 0 {
		limit = math.MaxInt64
	}
	all := s.all()
	if all && state.isIn(s.namespace) {
		items = make([]*Item, 0, min(limit, int64(state.tree.Len())))
	}
	more := false
	judge, converts := labelJudge{labels: s.labels}, s.converts()
	byLabel := s.fields.Empty() && s.shards.Empty() // ascend has seen to the namespace
	err = state.ascend(ctx, s.namespace, from, func(e entry) bool {
		if more = int64(len(items)) == limit; more {
			return false
		}
		if !all && !converts && !judge.matches(e.labels) {
			return true
		}
		it := e.item.under(s.kind)
		if all || converts && s.matches(it) || !converts && (byLabel || s.matchesRest(it.obj)) {
			items = append(items, it)
		}
		return true
	})
	if err != nil || !more {
		return items, "", err
	}
	last := items[len(items)-1]
	next = last.Name() + "\x00"
	if s.namespace == "" && !s.kind.Info().ClusterScoped {
		next = last.Namespace() + "/" + next
	}
	return items, next, nil
}
