package wiretest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// comparison collects the differences between trees, in one mode.
type comparison struct {
	Compare
	label string // of the trees, such as body or event 3
	found []Difference
}

// differ adds a difference at a pointer.
func (c *comparison) differ(path string, want, got any) {
	where := c.label
	if path != "" {
		where += " " + path
	}
	c.found = append(c.found, Difference{Where: where, Want: want, Got: got})
}

// value compares two trees that stand at path.
func (c *comparison) value(path string, want, got any) {
	switch {
	case c.ignored(path):
		return
	case kindOf(want) != kindOf(got):
		c.differ(path, want, got)
		return
	}
	switch w := want.(type) {
	case map[string]any:
		c.object(path, w, got.(map[string]any))
	case []any:
		c.array(path, w, got.([]any))
	default:
		if c.Body != "shape" && fmt.Sprint(want) != fmt.Sprint(got) {
			c.differ(path, want, got)
		}
	}
}

func (c *comparison) object(path string, want, got map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		p := member(path, key)
		if _, ok := got[key]; ok {
			c.value(p, want[key], got[key])
		} else if !c.ignored(p) {
			c.differ(p, want[key], "absent")
		}
	}
	if c.Body == "subset" {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		p := member(path, key)
		if _, ok := want[key]; !ok && !c.ignored(p) {
			c.differ(p, "absent", got[key])
		}
	}
}

func (c *comparison) array(path string, want, got []any) {
	switch c.Body {
	case "subset":
		c.subset(path, want, got)
		return
	case "shape":
		if len(want) > 0 && len(got) > 0 {
			c.value(element(path, 0), want[0], got[0])
		}
		return
	}
	for i := range max(len(want), len(got)) {
		p := element(path, i)
		switch {
		case i >= len(got):
			c.differ(p, want[i], "absent")
		case i >= len(want):
			c.differ(p, "absent", got[i])
		default:
			c.value(p, want[i], got[i])
		}
	}
}

// subset finds every expected element, in order, among the actual ones. It stops at the first that is missing.
func (c *comparison) subset(path string, want, got []any) {
	rest := got
	for i := range want {
		p := element(path, i)
		found := slices.IndexFunc(rest, func(candidate any) bool {
			attempt := comparison{Compare: c.Compare, label: c.label}
			attempt.value(p, want[i], candidate)
			return len(attempt.found) == 0
		})
		switch {
		case found >= 0:
			rest = rest[found+1:]
		case len(got) == 1 && len(rest) == 1:
			c.value(p, want[i], rest[0]) // adds the exact difference
			return
		default:
			c.differ(p, want[i], "no such element")
			return
		}
	}
}

// ignored reports whether a pointer fits one of the patterns.
func (c Compare) ignored(path string) bool {
	parts := strings.Split(path, "/")
	return slices.ContainsFunc(c.Ignore, func(pattern string) bool {
		return slices.EqualFunc(strings.Split(pattern, "/"), parts, func(p, part string) bool { return p == "*" || p == part })
	})
}

// kindOf names the kind of a JSON value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	}
	return "number"
}
