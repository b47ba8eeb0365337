package yaml

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
