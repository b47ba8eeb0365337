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
	depth, spaces, quoted := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			depth++
			spaces += 2 * depth
		case c == ',':
			spaces += 2 * depth
		case c == '}' || c == ']':
			depth--
		}
	}
	return spaces > maxSpaces
}

// The limits of IsPlain: v2 reads no key that is longer than 1024 characters.
const (
	plainKey   = 1000
	plainDepth = 100
)

// IsPlain reports whether it is easy to see that FromJSON can convert a valid JSON text
// without spaces. FromJSON may convert others too. The check takes a hundredth of the
// time of a conversion.
func IsPlain(data []byte) bool {
	if IsDeep(data) {
		return false
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c < ' ' || c > '~':
			return false
		case c == '{' || c == '[':
			if depth++; depth > plainDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c == '"':
			start := i + 1
			for i = start; i < len(data) && data[i] != '"'; i++ {
				if data[i] < ' ' || data[i] > '~' {
					return false
				}
				if data[i] != '\\' {
					continue
				}
				// v2 does not read an escaped slash, or half a surrogate pair.
				if i++; i+1 >= len(data) || data[i] == '/' || data[i] == 'u' && data[i+1]|0x20 == 'd' {
					return false
				}
			}
			isKey := i+1 < len(data) && data[i+1] == ':'
			if isKey && (i-start > plainKey || string(data[start:i]) == mergeKey) {
				return false
			}
		}
	}
	return true
}
