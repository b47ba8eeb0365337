package wiretest

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// merge applies a JSON merge patch (RFC 7396).
func merge(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, _ := target.(map[string]any)
	if out = maps.Clone(out); out == nil {
		out = map[string]any{}
	}
	for key, value := range changes {
		if value == nil {
			delete(out, key)
			continue
		}
		out[key] = merge(out[key], value)
	}
	return out
}

// mergePatch returns the patch that makes to from from.
func mergePatch(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range from {
		if _, ok := to[key]; !ok {
			patch[key] = nil
		}
	}
	for key, value := range to {
		below, isObject := value.(map[string]any)
		old, wasObject := from[key].(map[string]any)
		switch {
		case reflect.DeepEqual(from[key], value):
		case isObject && wasObject:
			patch[key] = mergePatch(old, below)
		default:
			patch[key] = value
		}
	}
	return patch
}

// CopyTree returns a deep copy of a tree.
func CopyTree(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		out := make(map[string]any, len(node))
		for key, value := range node {
			out[key] = CopyTree(value)
		}
		return out
	case []any:
		out := slices.Clone(node)
		for i := range out {
			out[i] = CopyTree(out[i])
		}
		return out
	}
	return tree
}

// compact returns the JSON of a tree on one line, with sorted keys.
func compact(tree any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		return err.Error() // a tree of decoded JSON can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func quote(text string) string { return compact(text) }

func metaString(object any, key string) string {
	value, _ := pointer(object, "/metadata/"+key)
	text, _ := value.(string)
	return text
}
