package differential

import (
	"maps"
	"slices"
	"strings"
)

// This file makes strategic merge patches: merge patches with directives.

// strategicPatch returns a strategic merge patch for an object.
func (w *writers) strategicPatch() object {
	o := w.mergePatch()
	w.direct(o, 0)
	return o
}

// direct adds directives to a patch.
func (g generator) direct(o object, depth int) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		switch v := o[name].(type) {
		case object:
			g.direct(v, depth+1)
		case []any:
			if !strings.HasPrefix(name, "$") {
				g.directList(o, name, v, depth)
			}
		}
	}
	switch n := g.IntN(200); {
	case n < 2+2*depth:
		o["$patch"] = pick(g, "delete", "replace", "merge", "merge", "bad")
	case n < 6+2*depth && len(o) > 0:
		keep := slices.Sorted(maps.Keys(o))
		if g.percent(30) {
			keep = keep[:len(keep)-1]
		}
		names := make([]any, len(keep))
		for i, name := range keep {
			names[i] = name
		}
		o["$retainKeys"] = names
	}
}

// directList adds directives for the list o[name], in the list and next to it.
func (g generator) directList(o object, name string, list []any, depth int) {
	for i, item := range list {
		if fields, ok := item.(object); ok {
			if g.percent(15) {
				fields["$patch"] = pick(g, "delete", "delete", "replace", "merge")
			} else {
				g.direct(fields, depth+1)
			}
			list[i] = fields
		}
	}
	switch n := g.IntN(100); {
	case n < 5:
		o[name] = append(slices.Clone(list), object{"$patch": pick(g, "replace", "delete", "merge")})
	case n < 20:
		o["$setElementOrder/"+name] = g.order(list)
	case n < 30:
		// Upstream reads the members in random order, so with the list itself the result would be random.
		o["$deleteFromPrimitiveList/"+name] = pick[any](g, list, some(g, any("f/1"), "f/2", "t1"), []any{"f/1"})
		delete(o, name)
	}
}

// order returns the value of $setElementOrder for a list, mostly with all its items.
func (g generator) order(list []any) any {
	var out []any
	for _, i := range g.Perm(len(list)) {
		item, ok := list[i].(object)
		switch {
		case !ok:
			out = append(out, list[i])
		case item["uid"] != nil:
			out = append(out, object{"uid": item["uid"]})
		case item["name"] != nil:
			out = append(out, object{"name": item["name"]})
		}
	}
	for range g.IntN(2) {
		out = append(out, pick[any](g, "f/3", object{"uid": "u3"}, object{"name": "p3"}, "t3"))
	}
	if out == nil {
		return []any{}
	}
	return out
}
