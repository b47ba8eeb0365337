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

// encode writes a tree with another key in place of mergeKey, and reports whether it met one.
func encode(tree any, merge string) (text []byte, merges bool) {
	text, err := yaml.Marshal(ordered(tree, merge, &merges))
	if err != nil {
		panic(err) // of a type that is not allowed
	}
	return text, merges
}

// ordered returns a tree whose objects have an order. It sets merges if it met mergeKey.
func ordered(tree any, merge string, merges *bool) any {
	switch tree := tree.(type) {
	case map[string]any:
		members := make(yaml.MapSlice, 0, len(tree))
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			value := ordered(tree[name], merge, merges)
			if name == mergeKey {
				name, *merges = merge, true
			}
			members = append(members, yaml.MapItem{Key: name, Value: value})
		}
		return members
	case []any:
		items := make([]any, len(tree))
		for i, item := range tree {
			items[i] = ordered(item, merge, merges)
		}
		return items
	}
	return tree
}
