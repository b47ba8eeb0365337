package selector

// labelToken is a kind of token in a label selector.
type labelToken uint8

const (
	tokenEnd labelToken = iota
	tokenWord
	tokenComma
	tokenOpen
	tokenClose
	tokenNot
	tokenEquals
	tokenDoubleEquals
	tokenNotEquals
	tokenGreater
	tokenLess
)

// labelScanner splits a label selector into tokens as apimachinery's pkg/labels Lexer does, which treats a zero byte in its
// own way: at the start of a token it ends the text, behind a token it is dropped.
type labelScanner struct {
	rest  string
	token labelToken // the current token
	text  string     // as written; empty at the end
}

// next moves to the next token.
func (s *labelScanner) next() {
	start := 0
	for start < len(s.rest) && isBlank(s.rest[start]) {
		start++
	}
	s.rest = s.rest[start:]
	if s.rest == "" || s.rest[0] == 0 {
		s.token, s.text = tokenEnd, ""
		return
	}

	length := 1
	switch s.rest[0] {
	case ',':
		s.token = tokenComma
	case '(':
		s.token = tokenOpen
	case ')':
		s.token = tokenClose
	case '>':
		s.token = tokenGreater
	case '<':
		s.token = tokenLess
	case '!':
		s.token, length = s.withEquals(tokenNot, tokenNotEquals)
	case '=':
		s.token, length = s.withEquals(tokenEquals, tokenDoubleEquals)
	default:
		s.token = tokenWord
		for length < len(s.rest) && isWordByte(s.rest[length]) {
			length++
		}
	}
	s.text, s.rest = s.rest[:length], s.rest[length:]
	if s.rest != "" && s.rest[0] == 0 {
		s.rest = s.rest[1:]
	}
}

// withEquals returns the operator of one byte, or the longer one if an equals sign follows, and its length.
func (s *labelScanner) withEquals(short, long labelToken) (labelToken, int) {
	if len(s.rest) > 1 && s.rest[1] == '=' {
		return long, 2
	}
	return short, 1
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

func isWordByte(c byte) bool {
	switch c {
	case 0, '=', '!', '(', ')', ',', '>', '<':
		return false
	}
	return !isBlank(c)
}
