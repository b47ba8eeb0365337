package managedfields

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// prune removes from a merged document what the writer owned the last time and
// nobody owns now. os has the writer's new fields already. The result is in the
// version that the writer used the last time.
//
// Removing a member leaves others with nothing in them, and removing an item
// takes along what others own in it. Hence the detours (upstream: merge,
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

// keepOwned puts back what somebody owns, version by version, beginning with
// the one that the documents are in.
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
