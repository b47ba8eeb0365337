package selector

// labelToken is a kind of word in a label selector.
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

// labelScanner splits a label selector into words. It follows the lexer upstream (apimachinery, pkg/labels Lexer) down to
// its habit with a zero byte: as the first byte of a word it ends the text, behind a word it is swallowed.
type labelScanner struct {
	rest  string
	token labelToken // the current word
	text  string     // its spelling; empty at the end
}

// next moves on to the next word.
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

// withEquals decides between an operator of one byte and the longer one which an equals sign makes of it.
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
