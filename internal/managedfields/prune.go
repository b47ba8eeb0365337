package managedfields

import (
	"fmt"
	"maps"
	"slices"
)

// prune removes from a merged document the fields that the writer applied the last
// time and that no manager owns now. os already has the writer's new fields. The
// result is in the version of the writer's last apply.
//
// Removing an item also removes fields in it that other managers own, so these are
// added back (upstream: merge, update.go).
func prune(merged document, os owners, last *owner) (document, error) {
	lastVersion, err := merged.inVersion(last.version)
	if err != nil {
		return document{}, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	}
	s := lastVersion.schema()
	lastFields := s.withParents(last.fields)
	pruned := lastVersion.with(s.remove(lastVersion.tree, lastFields))
	if pruned, err = addBackOwned(lastVersion, pruned, os); err != nil {
		return document{}, fmt.Errorf("failed add back owned items: %w", err)
	}
	if pruned, err = pruned.inVersion(last.version); err != nil {
		return document{}, fmt.Errorf("failed add back dangling items: failed to convert pruned object to last applied version: %w", err)
	}
	// Only fields that the writer owned are removed in the end.
	toRemove := intersection(difference(s.withParents(lastVersion.fields()), s.withParents(pruned.fields())), lastFields)
	return lastVersion.with(s.remove(lastVersion.tree, toRemove)), nil
}

// addBackOwned adds back the fields that have an owner. It does so for one version
// after the other, beginning with the version of the documents.
func addBackOwned(merged, pruned document, os owners) (document, error) {
	owned := map[string][]*set{}
	for _, o := range os {
		owned[o.version] = append(owned[o.version], o.fields)
	}
	ownVersion := merged.kind.Versions[merged.version].APIVersion
	order := slices.Sorted(maps.Keys(owned))
	slices.SortStableFunc(order, func(a, b string) int {
		switch ownVersion {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	for _, apiVersion := range order {
		m, err := merged.inVersion(apiVersion)
		if err != nil {
			return document{}, fmt.Errorf("failed to convert merged object at version %s: %w", apiVersion, err)
		}
		p, err := pruned.inVersion(apiVersion)
		if err != nil {
			return document{}, fmt.Errorf("failed to convert pruned object at version %s: %w", apiVersion, err)
		}
		s := m.schema()
		keep := union(s.withParents(p.fields()), s.withParents(unionOf(owned[apiVersion])))
		merged, pruned = m, m.with(s.remove(m.tree, difference(s.withParents(m.fields()), keep)))
	}
	return pruned, nil
}

// remove returns v without fields. It does not change v, but the result shares memory
// with it.
func (s schema) remove(v map[string]any, fields *set) map[string]any {
	out, _ := s.without(v, fields).(map[string]any)
	return out
}

// without returns v without fields. It returns nil if v is atomic, and if no member or
// item is left.
func (s schema) without(v any, fields *set) any {
	if !s.isList() && !s.isObject() {
		return v
	}
	if s.atomic() {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return s.withoutMembers(v, fields)
	case []any:
		if s.untyped() {
			return nil
		}
		return s.withoutItems(v, fields)
	}
	return v
}

func (s schema) withoutMembers(object map[string]any, fields *set) any {
	out := make(map[string]any, len(object))
	for name, v := range object {
		n := fields.get(member(name))
		if n.member {
			continue
		}
		if n.sub != nil {
			below, _ := s.member(name)
			v = below.without(v, n.sub)
		}
		out[name] = v
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (s schema) withoutItems(list []any, fields *set) any {
	var out []any
	for _, item := range list {
		st, err := s.step(item)
		if err != nil {
			continue // the item is not valid
		}
		n := fields.get(st)
		if n.member {
			continue
		}
		if n.sub != nil {
			item = s.item().without(item, n.sub)
		}
		out = append(out, item)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
