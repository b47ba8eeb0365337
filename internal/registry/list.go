package registry

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// ListOptions says what to list (API reference, "ListOptions"). The zero value
// lists everything there is now.
type ListOptions struct {
	// Namespace limits the list to one namespace; "" is all.
	Namespace string
	// LabelSelector, FieldSelector and ShardSelector are in the API's syntax;
	// see package selector.
	LabelSelector, FieldSelector, ShardSelector string
	// Limit is the greatest number of items of a page. Zero and less mean no
	// limit.
	Limit int64
	// Continue is the token of the page before.
	Continue string
	// ResourceVersion and ResourceVersionMatch ask for a certain state: none
	// is now, "Exact" is that very version, "NotOlderThan" is now but waits
	// for a version in the future.
	ResourceVersion, ResourceVersionMatch string
	// SendInitialEvents is for watches; giving it here is an error.
	SendInitialEvents *bool
	// WatchRules checks the options as those of a watch, as the deletion of a
	// collection does that has watch=true: it makes no other difference.
	WatchRules bool
	// Warn, if not nil, is given texts to be sent along with the answer.
	Warn func(text string)
}

// The values of ResourceVersionMatch.
const (
	MatchExact        = "Exact"
	MatchNotOlderThan = "NotOlderThan"
)

// List is a page of items, ordered by the bytes of "namespace/name".
type List struct {
	Items []*Item
	// ResourceVersion is the version at which the list was true.
	ResourceVersion uint64
	// Continue is the token for the next page, or "".
	Continue string
	// RemainingItemCount is how many items follow, or nil where that is not
	// known.
	RemainingItemCount *int64
	// Shard is the canonical shardSelector, or "".
	Shard string
}

// Meta returns the metadata of the list as it stands on the wire.
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

// List returns what the options select. It blocks, for three seconds at most,
// only where they name a version in the future.
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
	r.past.dropBefore(r.st.oldest())
	s, err := r.stateFor(ctx, read)
	if err != nil {
		return nil, err
	}
	return sel.page(s, read.start, read.limit), nil
}

// CheckList returns the error that the options deserve before anything is
// looked for, or nil.
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
		// What the fields narrow it to no longer counts (upstream:
		// storage.SelectionPredicate.MatchesSingleNamespace). So pages of a
		// namespace that is named in the selector alone begin anew: their keys
		// are taken for keys across all namespaces.
		sel.namespace, sel.name = opts.Namespace, ""
	}
	return sel, err
}

// validate is the 422 part of the checks (upstream: apimachinery,
// meta/internalversion/validation).
func (o ListOptions) validate() error {
	if o.WatchRules {
		w := WatchOptions{
			Continue: o.Continue, ResourceVersion: o.ResourceVersion,
			ResourceVersionMatch: o.ResourceVersionMatch, SendInitialEvents: o.SendInitialEvents,
		}
		return w.check()
	}
	const match = field.Path("resourceVersionMatch")
	var errs field.Errors
	if o.ResourceVersionMatch != "" {
		if o.ResourceVersion == "" {
			errs = append(errs, field.Forbidden(match, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if o.Continue != "" {
			errs = append(errs, field.Forbidden(match, "resourceVersionMatch is forbidden when continue is provided"))
		}
		if m := o.ResourceVersionMatch; m != MatchExact && m != MatchNotOlderThan {
			errs = append(errs, field.NotSupported(match, m, MatchExact, MatchNotOlderThan, ""))
		}
		if o.ResourceVersionMatch == MatchExact && o.ResourceVersion == "0" {
			errs = append(errs, field.Forbidden(match, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if o.SendInitialEvents != nil {
		errs = append(errs, field.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
	}
	return optionsError("ListOptions", errs)
}

// page walks a state from a key on and returns what is selected, up to limit
// items where that is above zero.
func (s *selection) page(state snapshot, start string, limit int64) *List {
	l := &List{Items: []*Item{}, ResourceVersion: state.version, Shard: s.shards.String()}
	if limit == 0 {
		limit = math.MaxInt64
	}
	// Where the start is relative to a namespace it is a name; across all it
	// is a namespace and a name.
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
			// Only without a selector is the count part of the answer.
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
