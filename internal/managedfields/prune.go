package managedfields

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// prune removes from a merged document the fields that the writer owned the last
// time and nobody owns now. os already has the writer's new fields. The result is
// in the version of the writer's last apply.
//
// Removing a member leaves empty containers, and removing an item also removes
// fields in it that others own, which must be added back (upstream: merge,
// update.go).
func prune(merged document, os owners, last *owner) (document, error) {
	former, err := merged.in(last.version)
	if errors.Is(err, errNoVersion) {
		return merged, nil
	}
	if err != nil {
		return document{}, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	}
	s := former.schema()
	lastFields := s.named(last.fields)
	pruned := former.with(s.remove(former.tree, lastFields))
	if pruned, err = keepOwned(former, pruned, os); err != nil {
		return document{}, fmt.Errorf("failed add back owned items: %w", err)
	}
	if pruned, err = pruned.in(last.version); err != nil {
		return document{}, fmt.Errorf("failed add back dangling items: failed to convert pruned object to last applied version: %w", err)
	}
	// What went although the writer never owned it comes back.
	gone := intersection(difference(s.named(former.fields()), s.named(pruned.fields())), lastFields)
	return former.with(s.remove(former.tree, gone)), nil
}

// keepOwned adds back fields that have an owner, version by version, beginning
// with the version of the documents.
func keepOwned(merged, pruned document, os owners) (document, error) {
	owned := map[string][]*set{}
	for _, o := range os {
		owned[o.version] = append(owned[o.version], o.fields)
	}
	here := merged.kind.Versions[merged.version].APIVersion
	order := slices.Sorted(maps.Keys(owned))
	slices.SortStableFunc(order, func(a, b string) int {
		switch {
		case a == here && b != here:
			return -1
		case b == here && a != here:
			return 1
		}
		return 0
	})
	for _, apiVersion := range order {
		m, err := merged.in(apiVersion)
		if errors.Is(err, errNoVersion) {
			continue
		}
		if err != nil {
			return document{}, fmt.Errorf("failed to convert merged object at version %s: %w", apiVersion, err)
		}
		p, err := pruned.in(apiVersion)
		if err != nil {
			return document{}, fmt.Errorf("failed to convert pruned object at version %s: %w", apiVersion, err)
		}
		s := m.schema()
		keep := union(s.named(p.fields()), s.named(unionOf(owned[apiVersion])))
		merged, pruned = m, m.with(s.remove(m.tree, difference(s.named(m.fields()), keep)))
	}
	return pruned, nil
}

// remove returns a document without some of its fields. It shares memory with
// v, which is not changed.
func (s schema) remove(v map[string]any, fields *set) map[string]any {
	out, _ := s.without(v, fields).(map[string]any)
	return out
}

// without returns nil for a value with nothing left, and for an atomic value.
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
	if s.untyped() {
		return v
	}
	return nil
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
			continue // not valid
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
