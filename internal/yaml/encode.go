package yaml

import (
	"maps"
	"slices"
)

// Encode writes a tree of map[string]any, []any, string, bool, int64, float64 and
// nil as [FromJSON] writes JSON, but so that [ToJSON] reads it as it is, whatever
// is in it: FromJSON has the mistakes of upstream. It panics on other types.
func Encode(tree any) []byte {
	e := emitter{blank: true, fresh: true, exact: true}
	e.value(fromTree(tree), -1, inDocument)
	e.indent(0)
	return e.out
}

func fromTree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := &object{entries: make([]entry, 0, len(v))}
		// The natural order of keys is no total one, so it matters what is sorted.
		for _, name := range slices.Sorted(maps.Keys(v)) {
			o.entries = append(o.entries, entry{name: name, value: fromTree(v[name])})
		}
		return o
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = fromTree(item)
		}
		return items
	}
	return v
}
