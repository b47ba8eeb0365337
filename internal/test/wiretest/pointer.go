package wiretest

import (
	"fmt"
	"strings"
)

// pointer returns the value at a JSON pointer (RFC 6901), and whether it exists.
func pointer(tree any, path string) (any, bool) {
	if path == "" {
		return tree, true
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		part = unescape.Replace(part)
		switch node := tree.(type) {
		case map[string]any:
			value, ok := node[part]
			if !ok {
				return nil, false
			}
			tree = value
		case []any:
			i := 0
			if _, err := fmt.Sscanf(part, "%d", &i); err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			tree = node[i]
		default:
			return nil, false
		}
	}
	return tree, true
}

// member returns the pointer to a member of the object at path.
func member(path, key string) string {
	return path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// element returns the pointer to an element of the array at path.
func element(path string, i int) string { return fmt.Sprintf("%s/%d", path, i) }
