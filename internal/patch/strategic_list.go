package patch

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// errNotComparable reports a patch that makes upstream panic.
var errNotComparable = errors.New("list items are identified by objects or lists, want scalars")

// listRule is the rule for merging the items of a list.
type listRule struct {
	item  schema
	merge bool   // false: the patch replaces the list
	key   string // the merge key; empty for scalars
}

// mergeInto merges the list of a patch into the live list, which may change. deletes
// reports whether patch is a list of items to delete. Such items are deleted under
// every strategy.
func (r listRule) mergeInto(live, patch []any, deletes bool) ([]any, error) {
	if !r.merge && !deletes {
		return patch, nil
	}
	if len(live) == 0 && len(patch) == 0 {
		return live, nil
	}
	areMaps, err := itemsAreMaps(live, patch)
	switch {
	case err != nil:
		return nil, err
	case areMaps:
		return r.mergeMaps(live, patch)
	case deletes:
		deleted := positionsOf(patch, "")
		return slices.DeleteFunc(slices.Clone(live), func(v any) bool { return deleted.of(v) >= 0 }), nil
	case r.key != "":
		_, err := as[map[string]any](slices.Concat(live, patch)[0])
		return nil, err
	}
	in, out, err := r.split(unique(slices.Concat(live, patch)), patch)
	if err != nil {
		return nil, err
	}
	return r.orderItems(in, out, patch, live, false)
}

func (r listRule) mergeMaps(live, patch []any) ([]any, error) {
	if r.key == "" {
		return nil, fmt.Errorf("cannot merge lists without merge key for %s", r.item.goKind())
	}
	live, patch, err := r.applyItemDirectives(live, patch)
	if err != nil {
		return nil, err
	}
	merged, err := r.mergeItems(live, patch)
	if err != nil {
		return nil, err
	}
	in, out, err := r.split(merged, patch)
	if err != nil {
		return nil, err
	}
	return r.orderItems(in, out, patch, live, true)
}

// applyItemDirectives removes the items with a directive from the patch, and deletes
// the items that they name from the live list. As upstream, it deletes items one by
// one and in place: $setElementOrder later reads the old items after the end of the
// live list.
func (r listRule) applyItemDirectives(live, patch []any) (_, rest []any, err error) {
	count := map[any]int{}
	for _, item := range live {
		if v, err := memberOf(item, r.key); err == nil && hashable(v) {
			count[v]++
		}
	}
	rest = []any{}
	replace := false
	for _, item := range patch {
		item := item.(map[string]any)
		d, ok := item[directive]
		switch {
		case !ok:
			rest = append(rest, item)
		case d == directiveDelete:
			deleted, err := memberOf(item, r.key)
			if err != nil {
				return nil, nil, err
			}
			for hashable(deleted) && count[deleted] > 0 {
				i := slices.IndexFunc(live, func(item any) bool {
					v, err := memberOf(item, r.key)
					return err == nil && v == deleted
				})
				live = append(live[:i], live[i+1:]...)
				count[deleted]--
			}
		case d == directiveReplace:
			replace = true
		case d == directiveMerge:
			return nil, nil, errors.New("merging lists cannot yet be specified in the patch")
		default:
			return nil, nil, errDirective(d, item)
		}
	}
	if replace {
		return rest, nil, nil
	}
	return live, rest, nil
}

// mergeItems merges each item of a patch into the first live item with its merge key, or appends it.
func (r listRule) mergeItems(live, patch []any) ([]any, error) {
	at := positionsOf(live, r.key)
	var last error // returned unless a later item has another error
	for _, item := range patch {
		value, err := memberOf(item, r.key)
		if err != nil {
			return nil, err
		}
		if !hashable(value) {
			last = errNotComparable
			continue
		}
		i := at.of(value)
		if i < 0 {
			at[value] = len(live)
			live = append(live, item)
			continue
		}
		merged, err := mergeMap(live[i].(map[string]any), item.(map[string]any), r.item)
		if err != nil {
			return nil, err
		}
		live[i] = merged
		if _, ok := merged[r.key]; !ok {
			delete(at, value) // a merge key of null removes itself
		}
	}
	return live, last
}

// orderItems sorts listed by order and rest by the live list, and merges the two.
func (r listRule) orderItems(listed, rest, order, live []any, areMaps bool) (_ []any, err error) {
	if listed, err = r.sort(listed, order, areMaps); err != nil {
		return nil, err
	}
	if rest, err = r.sort(rest, live, areMaps); err != nil {
		return nil, err
	}
	return r.interleave(rest, listed, live), nil
}

func (r listRule) split(list, listed []any) (in, out []any, err error) {
	at, end := positionsOf(listed, r.key), len(listed)
	if r.key != "" {
		end = slices.IndexFunc(listed, func(v any) bool { _, ok := v.(map[string]any); return !ok })
	} else if !allHashable(list) || !allHashable(listed) {
		return nil, nil, errNotComparable
	}
	in, out = make([]any, 0, len(list)), make([]any, 0, len(list))
	for _, item := range list {
		value, err := mergeKeyOf(item, r.key)
		if err != nil {
			return nil, nil, err
		}
		i := at.of(value)
		switch {
		case r.key != "" && end >= 0 && (i < 0 || i > end):
			return nil, nil, fmt.Errorf("value for key %d is not a map", end)
		case i >= 0:
			in = append(in, item)
		default:
			out = append(out, item)
		}
	}
	return in, out, nil
}

// sort sorts a list by the positions of its items in order. Items to delete go to the end.
func (r listRule) sort(list, order []any, areMaps bool) ([]any, error) {
	var deletions []any
	if areMaps {
		for _, item := range slices.Concat(list, order) {
			if _, err := memberOf(item, r.key); err != nil {
				return nil, err
			}
		}
		list, deletions = splitDeletions(list)
	}
	at := positionsOf(order, r.key)
	// This is not a strict order. The place of items that are not in order depends
	// on the sort algorithm, which must be upstream's.
	sort.SliceStable(list, func(i, j int) bool {
		a, b := at.ofItem(list[i], r.key), at.ofItem(list[j], r.key)
		return a < 0 || b < 0 || a < b
	})
	return append(list, deletions...), nil
}

// splitDeletions divides a list of maps into items to keep and items to delete.
func splitDeletions(list []any) (rest, deletions []any) {
	for _, item := range list {
		if item.(map[string]any)[directive] == any(directiveDelete) {
			deletions = append(deletions, item)
		} else {
			rest = append(rest, item)
		}
	}
	return rest, deletions
}

// interleave merges two sorted lists. The items of the patch come as early as the
// order of the live list allows.
func (r listRule) interleave(fromServer, fromPatch, live []any) []any {
	at := positionsOf(live, r.key)
	merged := make([]any, 0, len(fromServer)+len(fromPatch))
	for len(fromServer) > 0 && len(fromPatch) > 0 {
		a, b := at.ofItem(fromServer[0], r.key), at.ofItem(fromPatch[0], r.key)
		if a >= 0 && b >= 0 && a < b {
			merged, fromServer = append(merged, fromServer[0]), fromServer[1:]
		} else {
			merged, fromPatch = append(merged, fromPatch[0]), fromPatch[1:]
		}
	}
	return append(append(merged, fromPatch...), fromServer...)
}

// mergeOrderedLists applies each $setElementOrder: it merges and sorts the list. Then
// it removes the directive and the list from the patch.
func mergeOrderedLists(live, patch map[string]any, s schema) error {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		if !strings.HasPrefix(key, prefixElementOrder) {
			continue
		}
		d := patch[key]
		delete(patch, key)
		order, err := as[[]any](d)
		if err != nil {
			return err
		}
		name, err := listName(key, prefixElementOrder, "setElementOrder list")
		if err != nil {
			return err
		}
		if err := mergeOrderedList(live, patch, name, order, s); err != nil {
			return err
		}
	}
	return nil
}

func mergeOrderedList(live, patch map[string]any, name string, order []any, s schema) error {
	old, isLive, err := memberList(live, name)
	if err != nil {
		return err
	}
	changes, isPatched, err := memberList(patch, name)
	if err != nil {
		return err
	}
	rule, err := s.listMember(name)
	if err != nil {
		return err
	}
	if err := rule.checkOrder(changes, order); err != nil {
		return err
	}
	merged := old
	switch {
	case isLive && isPatched:
		if merged, err = rule.mergeInto(old, changes, false); err != nil {
			return err
		}
	case isPatched:
		clean, _ := dropDirectives(changes)
		merged = clean.([]any)
	case !isLive:
		return nil
	}
	listed, rest, err := rule.split(merged, order)
	if err != nil {
		return err
	}
	areMaps, err := itemsAreMaps(old, changes)
	if err != nil {
		return err
	}
	live[name], err = rule.orderItems(listed, rest, order, old, areMaps)
	delete(patch, name)
	return err
}

// checkOrder checks that order, from $setElementOrder, has the items of the patch in
// the same order. It ignores items to delete.
func (r listRule) checkOrder(patch, order []any) error {
	if len(patch) == 0 || len(order) == 0 {
		return nil
	}
	rest := patch
	if r.key != "" {
		for _, item := range patch {
			if _, err := as[map[string]any](item); err != nil {
				return err
			}
		}
		rest, _ = splitDeletions(patch)
	}
	i, j := 0, 0
	for i < len(rest) && j < len(order) {
		if m, ok := rest[i].(map[string]any); ok {
			if _, ok := m[directive]; ok {
				i++
				continue
			}
		}
		same, err := r.sameItem(rest[i], order[j])
		if err != nil {
			return err
		}
		if same {
			i++
		}
		j++
	}
	if i < len(rest) {
		return fmt.Errorf("The order in patch list:\n%v\n doesn't match %s list:\n%v\n", patch, prefixElementOrder, order)
	}
	return nil
}

func (r listRule) sameItem(a, b any) (bool, error) {
	if r.key != "" {
		for _, item := range []any{a, b} {
			if _, err := as[map[string]any](item); err != nil {
				return false, err
			}
		}
	}
	v, err := mergeKeyOf(a, r.key)
	if err != nil {
		return false, err
	}
	w, err := mergeKeyOf(b, r.key)
	if err != nil {
		return false, err
	}
	if !hashable(v) && reflect.TypeOf(v) == reflect.TypeOf(w) {
		return false, errNotComparable
	}
	return v == w, nil
}

func memberList(m map[string]any, name string) (list []any, ok bool, err error) {
	v, ok := m[name]
	if ok {
		list, err = as[[]any](v)
	}
	return list, ok, err
}

// as returns a value of type T, or an error that names both types.
func as[T any](v any) (T, error) {
	out, ok := v.(T)
	if !ok {
		return out, fmt.Errorf("expected a %s, but received a %s", reflect.TypeOf(out), reflect.TypeOf(v))
	}
	return out, nil
}

// mergeKeyOf returns the value that identifies an item: itself if key is empty.
func mergeKeyOf(item any, key string) (any, error) {
	if key == "" {
		return item, nil
	}
	return memberOf(item, key)
}

func memberOf(item any, key string) (any, error) {
	m, err := as[map[string]any](item)
	if err != nil {
		return nil, err
	}
	v, ok := m[key]
	if !ok {
		return nil, fmt.Errorf("map: %v does not contain declared merge key: %s", m, key)
	}
	return v, nil
}

// itemsAreMaps reports whether the items of two lists are maps. All must have one type, and be no lists.
func itemsAreMaps(a, b []any) (bool, error) {
	var first reflect.Type
	for i, item := range slices.Concat(a, b) {
		t := reflect.TypeOf(item)
		if i == 0 && t != nil {
			first = t
			if t.Kind() == reflect.Slice {
				return false, rejected() // lists of lists
			}
		}
		if t == nil || t != first {
			return false, fmt.Errorf("list element types are not identical: %v", [][]any{a, b})
		}
	}
	if first == nil {
		return false, errors.New("no elements in any of the given slices")
	}
	return first.Kind() == reflect.Map, nil
}

// positions maps each merge key or scalar to the index of its first item in a list.
type positions map[any]int

func positionsOf(list []any, key string) positions {
	at := make(positions, len(list))
	for i, item := range list {
		v, err := mergeKeyOf(item, key)
		if err != nil || !hashable(v) {
			continue
		}
		if _, ok := at[v]; !ok {
			at[v] = i
		}
	}
	return at
}

func (p positions) of(v any) int {
	if hashable(v) {
		if i, ok := p[v]; ok {
			return i
		}
	}
	return -1
}

// hashable reports whether a value is a scalar, and so can be a key of a map.
func hashable(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// ofItem returns the position of the first item with the same merge key, or -1.
func (p positions) ofItem(item any, key string) int {
	v, err := mergeKeyOf(item, key)
	if err != nil {
		return -1
	}
	return p.of(v)
}

func allHashable(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { return !hashable(v) })
}

func unique(list []any) []any {
	seen := make(map[any]bool, len(list))
	return slices.DeleteFunc(list, func(v any) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}
