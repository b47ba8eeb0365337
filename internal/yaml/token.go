package yaml

// tokenKind says what a token is.
type tokenKind uint8

// The kinds of tokens.
const (
	tokenStreamEnd    tokenKind = iota
	tokenVersion                // %YAML
	tokenTagDirective           // %TAG, with the handle in value and the prefix in suffix
	tokenDocumentStart
	tokenDocumentEnd
	tokenBlockSequence // no characters of its own
	tokenBlockMapping  // no characters of its own
	tokenBlockEnd      // no characters of its own
	tokenFlowSequence
	tokenFlowSequenceEnd
	tokenFlowMapping
	tokenFlowMappingEnd
	tokenBlockEntry // the dash
	tokenFlowEntry  // the comma
	tokenKey        // the question mark, or before a key that needs none
	tokenValue      // the colon
	tokenAlias      // with the name in value
	tokenAnchor     // with the name in value
	tokenTag        // with the handle in value and the rest in suffix
	tokenScalar
)

// token is a piece of the stream.
type token struct {
	kind   tokenKind
	plain  bool // a scalar without quotes
	line   int  // of its first character, from zero
	level  int  // index into scanner.keys, plus one; zero if it cannot start a key
	value  string
	suffix string
}

// isBlank tells whether c is a space or a tab.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isWord tells whether c may stand in an anchor or a tag handle.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '-'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// hexValue returns the value of a hexadecimal digit, or -1.
func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// breakWidth returns the number of bytes of the line break at i, zero if there
// is none. CR LF is one line break; U+0085, U+2028 and U+2029 are, too.
func breakWidth(s string, i int) int {
	switch s[i] {
	case '\n':
		return 1
	case '\r':
		if s[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xc2:
		if s[i+1] == 0x85 {
			return 2
		}
	case 0xe2:
		if s[i+1] == 0x80 && (s[i+2] == 0xa8 || s[i+2] == 0xa9) {
			return 3
		}
	}
	return 0
}

// isBreakOrEnd tells whether a line break or the end of the stream is at i.
func isBreakOrEnd(s string, i int) bool { return s[i] == 0 || breakWidth(s, i) > 0 }

// isBlankOrEnd tells whether a blank, a line break or the end of the stream is
// at i.
func isBlankOrEnd(s string, i int) bool { return isBlank(s[i]) || isBreakOrEnd(s, i) }
