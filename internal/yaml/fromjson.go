package yaml

import (
	"errors"

	"go.yaml.in/yaml/v2"
)

// FromJSON converts a JSON document to YAML (upstream: JSONToYAML).
//
// It reads JSON as YAML, so JSON that is not YAML 1.1 is an error: escaped slashes,
// surrogate pairs, and keys longer than 1024 characters. encoding/json writes neither
// escaped slashes nor surrogate pairs. JSON that IsDeep is an error too.
func FromJSON(data []byte) (text []byte, err error) {
	defer recoverTo(&err)
	if IsDeep(data) {
		return nil, errors.New("yaml: the document is nested too deep")
	}
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	return yaml.Marshal(value)
}

// maxSpaces is how many spaces may begin the lines of a document.
const maxSpaces = 8 << 20

// IsDeep reports whether a valid JSON text is nested so deep that the lines of its indented
// form would begin with more than 8 MiB of spaces. Few bytes in deep lists have many lines, so
// a document of 1 MiB could become one of 10 GB.
func IsDeep(data []byte) bool {
	_, spaces := Nesting(data)
	return spaces > maxSpaces
}

// Nesting returns how many objects and arrays of a valid JSON text are inside of each other at most, and how many spaces
// begin the lines of its indented form.
func Nesting(data []byte) (deepest, spaces int) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
			spaces += 2 * depth
		case c == ',':
			spaces += 2 * depth
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest, spaces
}
