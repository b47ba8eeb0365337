package yaml

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v2"
)

// Encode writes a tree of map[string]any, []any, string, bool, int64, float64 and
// nil as YAML that [ToJSON] reads as the same tree. The same tree always gives
// the same text, with the keys of an object in the order of their bytes. Encode
// panics on other types and on text that is not UTF-8.
func Encode(tree any) []byte {
	text, merges := encode(tree, mergeKey)
	if !merges {
		return text
	}
	// v2 writes the key << without quotes, which makes it a merge.
	stand := mergeKey
	for i := 0; bytes.Contains(text, []byte(stand)); i++ {
		stand = "merge" + strconv.Itoa(i)
	}
	text, _ = encode(tree, stand)
	return bytes.ReplaceAll(text, []byte(stand), []byte(`"`+mergeKey+`"`))
}

// mergeKey is the key that merges its value into the object around it.
const mergeKey = "<<"

// encode writes a tree with another key in place of mergeKey, and reports whether
// it met one.
func encode(tree any, merge string) (text []byte, merges bool) {
	var ordered func(v any) any
	ordered = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			items := make(yaml.MapSlice, 0, len(v))
			for _, name := range slices.Sorted(maps.Keys(v)) {
				value := ordered(v[name])
				if name == mergeKey {
					name, merges = merge, true
				}
				items = append(items, yaml.MapItem{Key: name, Value: value})
			}
			return items
		case []any:
			items := make([]any, len(v))
			for i, item := range v {
				items[i] = ordered(item)
			}
			return items
		}
		return v
	}
	text, err := yaml.Marshal(ordered(tree))
	if err != nil {
		panic(err) // of a type that is not allowed
	}
	return text, merges
}
