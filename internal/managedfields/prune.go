package managedfields

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// prune removes from a merged document the fields that the writer applied the last
// time and that no manager owns now. os already has the writer's new fields. The
// result is in the version of the writer's last apply.
//
// Removing an item also removes fields in it that other managers own, so these are
// added back (upstream: merge, update.go).
func prune(merged document, os owners, own, last *owner) (document, error) {
	if s := merged.schema(); last.version == own.version && os.sameVersion() && own.fields.covers(last.fields) && s.ownsNoItems(last.fields) {
		return merged, nil // nearly every apply has the fields of the last one; see BenchmarkApply
	}
	lastVersion, err := merged.inVersion(last.version)
	if err != nil {
		return document{}, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	}
	s := lastVersion.schema()
	lastFields := s.withParents(last.fields)
	pruned := lastVersion.with(s.without(lastVersion.value(), lastFields))
	if pruned, err = addBackOwned(lastVersion, pruned, os); err != nil {
		return document{}, fmt.Errorf("failed add back owned items: %w", err)
	}
	if pruned, err = pruned.inVersion(last.version); err != nil {
		return document{}, fmt.Errorf("failed add back dangling items: failed to convert pruned object to last applied version: %w", err)
	}
	// Only fields that the writer owned are removed in the end.
	toRemove := intersection(difference(s.withParents(lastVersion.fields()), s.withParents(pruned.fields())), lastFields)
	return lastVersion.with(s.without(lastVersion.value(), toRemove)), nil
}

// ownsNoItems reports whether no field of a set is a list whose items have owners, or is in such a list.
func (s schema) ownsNoItems(fields *set) bool {
	if fields == nil {
		return true
	}
	return !slices.ContainsFunc(fields.nodes, func(n node) bool {
		below := s.atStep(n.step)
		return below.isList() && !below.atomic() || !below.ownsNoItems(n.sub)
	})
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
		merged, pruned = m, m.with(s.without(m.value(), difference(s.withParents(m.fields()), keep)))
	}
	return pruned, nil
}

// without returns v without fields. It returns null if v is atomic, and if no member or item is left.
// It does not change v, but the result shares memory with it.
func (s schema) without(v codec.Value, fields *set) codec.Value {
	switch {
	case !s.isList() && !s.isObject():
		return v
	case s.atomic():
		return codec.TreeValue(nil)
	case isObject(v):
		return s.withoutMembers(v, fields)
	}
	list, ok := v.Tree().([]any)
	switch {
	case !ok:
		return v
	case s.untyped():
		return codec.TreeValue(nil)
	}
	return s.withoutItems(list, fields)
}

func (s schema) withoutMembers(object codec.Value, fields *set) codec.Value {
	out := map[string]any{}
	var m codec.Members
	for m.Walk(object, codec.Value{}); m.Next(); {
		n := fields.get(member(m.Name))
		if n.member {
			continue
		}
		v := m.X
		if n.sub != nil {
			v = s.below(m.Name, m.Field).without(v, n.sub)
		}
		out[m.Name] = v.InTree()
	}
	if len(out) == 0 {
		return codec.TreeValue(nil)
	}
	return codec.TreeValue(out)
}

func (s schema) withoutItems(list []any, fields *set) codec.Value {
	var out []any
	for _, item := range list {
		st, err := s.step(codec.TreeValue(item))
		if err != nil {
			continue // the item is not valid
		}
		n := fields.get(st)
		if n.member {
			continue
		}
		if n.sub != nil {
			item = s.item().without(codec.TreeValue(item), n.sub).Tree()
		}
		out = append(out, item)
	}
	if len(out) == 0 {
		return codec.TreeValue(nil)
	}
	return codec.TreeValue(out)
}
