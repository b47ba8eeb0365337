package wiretest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// comparison compares trees in one mode.
type comparison struct {
	Compare
	what string // what the trees are, such as body or event 3
}

// differ returns the difference at a pointer.
func (c comparison) differ(path string, want, got any) *Difference {
	where := c.what
	if path != "" {
		where += " " + path
	}
	return &Difference{Where: where, Want: want, Got: got}
}

// value returns the first difference between two trees that stand at path, nil if there is none.
func (c comparison) value(path string, want, got any) *Difference {
	switch {
	case c.ignored(path):
		return nil
	case kindOf(want) != kindOf(got):
		return c.differ(path, want, got)
	}
	switch w := want.(type) {
	case map[string]any:
		return c.object(path, w, got.(map[string]any))
	case []any:
		return c.array(path, w, got.([]any))
	}
	if c.Body != "shape" && fmt.Sprint(want) != fmt.Sprint(got) {
		return c.differ(path, want, got)
	}
	return nil
}

func (c comparison) object(path string, want, got map[string]any) *Difference {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		p := member(path, key)
		if _, ok := got[key]; !ok {
			if c.ignored(p) {
				continue
			}
			return c.differ(p, want[key], "absent")
		}
		if d := c.value(p, want[key], got[key]); d != nil {
			return d
		}
	}
	if c.Body == "subset" {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		p := member(path, key)
		if _, ok := want[key]; !ok && !c.ignored(p) {
			return c.differ(p, "absent", got[key])
		}
	}
	return nil
}

func (c comparison) array(path string, want, got []any) *Difference {
	switch c.Body {
	case "subset":
		return c.subset(path, want, got)
	case "shape":
		if len(want) > 0 && len(got) > 0 {
			return c.value(element(path, 0), want[0], got[0])
		}
		return nil
	}
	for i := range want {
		p := element(path, i)
		if i >= len(got) {
			return c.differ(p, want[i], "absent")
		}
		if d := c.value(p, want[i], got[i]); d != nil {
			return d
		}
	}
	if len(got) > len(want) {
		return c.differ(element(path, len(want)), "absent", got[len(want)])
	}
	return nil
}

// subset finds every expected element, in order, among the actual ones.
func (c comparison) subset(path string, want, got []any) *Difference {
	rest := got
	for i := range want {
		p := element(path, i)
		var first *Difference // why the first of the rest is not the one
		found := slices.IndexFunc(rest, func(candidate any) bool {
			d := c.value(p, want[i], candidate)
			if first == nil {
				first = d
			}
			return d == nil
		})
		switch {
		case found >= 0:
			rest = rest[found+1:]
		case first != nil && len(got) == 1:
			return first
		default:
			return c.differ(p, want[i], "no such element")
		}
	}
	return nil
}

// ignored tells whether a pointer fits one of the patterns.
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
