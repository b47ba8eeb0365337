package apitest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/watch"
)

// writer identifies a client.
type writer struct{ client, userAgent string }

func (c *call) writer() writer { return writer{c.client, c.userAgent} }

// sight is a version of an object, or of the objects in a scope, that a writer has seen.
type sight struct {
	when    uint64 // as in call.began
	version uint64
}

// sights are the versions that each writer has seen of each object and of each scope.
// A scope is all objects of a resource in one namespace, or in all namespaces.
type sights struct {
	objects map[writer]map[uint64][]sight
	scopes  map[writer]map[uint64][]sight
}

// updates finds writes without a resourceVersion that replaced a write of another
// client which the writer had not seen.
func (v *verifier) updates() {
	blind := func(t observation) bool {
		c := t.call
		return t.kind == sawAnswer && (c.verb == "update" || c.verb == "patch" || c.verb == "apply") && !c.guarded && !c.dryRun
	}
	if !slices.ContainsFunc(v.log, blind) {
		return
	}
	seen := v.sights()
	for _, t := range v.log {
		if made := v.byOrigin[t.call.origin]; blind(t) && len(made) == 1 && v.Changes[made[0]].Type == watch.Modified {
			v.update(t.call, &v.Changes[made[0]], seen)
		}
	}
}

// sights collects what the writers have seen.
func (v *verifier) sights() sights {
	s := sights{map[writer]map[uint64][]sight{}, map[writer]map[uint64][]sight{}}
	add := func(to map[writer]map[uint64][]sight, w writer, key uint64, now sight) {
		if to[w] == nil {
			to[w] = map[uint64][]sight{}
		}
		if all := to[w][key]; len(all) == 0 || all[len(all)-1].version < now.version {
			to[w][key] = append(all, now)
		}
	}
	for i, t := range v.log {
		now, c := sight{v.before + uint64(i), t.version}, t.call
		list := t.kind == sawAnswer && c.verb == "list" || t.kind == sawState
		switch {
		case t.version == 0:
		case list && c.query.Get("labelSelector")+c.query.Get("fieldSelector")+c.query.Get("shardSelector") == "":
			add(s.scopes, c.writer(), v.scopeKey(c, c.namespace), now)
		case t.kind == sawAnswer || t.kind == sawObject:
			add(s.objects, c.writer(), t.key, now)
		}
	}
	return s
}

// scopeKey returns the key of a scope.
func (v *verifier) scopeKey(c *call, namespace string) uint64 {
	return v.record.key(c.group, c.resource, namespace, "*")
}

// until returns the last version that was seen before a call began, or 0.
func until(all []sight, c *call) uint64 {
	n, _ := slices.BinarySearchFunc(all, c.began, func(s sight, began uint64) int { return cmp.Compare(s.when, began) })
	if n == 0 {
		return 0
	}
	return all[n-1].version
}

// update checks a write without a resourceVersion.
func (v *verifier) update(c *call, made *registry.RecordedChange, seen sights) {
	k, w := keyOf(made.Resource, made.New), c.writer()
	version := max(
		until(seen.objects[w][v.record.key(c.group, c.resource, k.namespace, k.name)], c),
		until(seen.scopes[w][v.scopeKey(c, k.namespace)], c), until(seen.scopes[w][v.scopeKey(c, "")], c),
	)
	if version < v.Since || version >= made.Old.Version() {
		return
	}
	// The writer knows its own writes, answered or not.
	changes := v.byObject[k]
	unseen := changes[v.after(changes, version):v.after(changes, made.Old.Version())]
	for n, i := range slices.Backward(unseen) {
		by := v.calls[v.Changes[i].Origin]
		if by == nil && v.Changes[i].Origin != 0 {
			return // its writer is unknown: not recorded yet, or dropped
		}
		if by != nil && by.writer() == w {
			version, unseen = v.Changes[i].Version, unseen[n+1:]
			break
		}
	}
	known := v.stateAt(k, version)
	if len(unseen) == 0 || known == nil || known.UID() != made.New.UID() {
		return
	}
	if lost := overwritten(known, made.Old, made.New); len(lost) > 0 {
		v.out.LostUpdates = append(v.out.LostUpdates, newFinding(v.excerpt(k, made.Version), "%s %s by %s at %d, without a resourceVersion, overwrote an update that it had not seen: it knew %d and replaced %d: %s",
			c.verb, k, c.sender(), made.Version, version, made.Old.Version(), strings.Join(lost, "; ")))
	}
}

// overwritten lists the members that differ between known and old, and again between
// old and now.
func overwritten(known, old, now *registry.Item) (lost []string) {
	a, b, c := members(known), members(old), members(now)
	for _, path := range slices.Sorted(maps.Keys(b)) {
		if a[path] != b[path] && b[path] != c[path] {
			lost = append(lost, fmt.Sprintf("%s was %s, then %s, and is %s", path, shown(a[path]), shown(b[path]), shown(c[path])))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(a)) {
		if _, kept := b[path]; !kept && c[path] != "" {
			lost = append(lost, fmt.Sprintf("%s was %s, then removed, and is %s", path, shown(a[path]), shown(c[path])))
		}
	}
	return lost
}

// shown shortens the value of a member for a text.
func shown(text string) string {
	const most = 60
	switch {
	case text == "":
		return "not there"
	case len(text) > most:
		return text[:most] + "…"
	}
	return text
}

// members returns the members that writers set, as JSON by their paths. A list is one
// member.
func members(it *registry.Item) map[string]string {
	out := map[string]string{}
	data, err := it.Encoded(0, registry.JSON)
	if err != nil {
		return out
	}
	var walk func(path string, raw json.RawMessage)
	walk = func(path string, raw json.RawMessage) {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil || object == nil {
			out[path] = string(raw)
			return
		}
		for name, member := range object {
			switch inner := strings.TrimPrefix(path+"."+name, "."); inner {
			case "metadata.managedFields", "metadata.resourceVersion", "metadata.generation":
			default:
				walk(inner, member)
			}
		}
	}
	walk("", data)
	return out
}
