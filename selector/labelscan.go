package selector

import "strings"

// labelScanner splits a label selector into tokens as apimachinery's pkg/labels Lexer does, which treats a zero byte in its
// own way: at the start of a token it ends the text, behind a token it is dropped.
type labelScanner struct {
	rest string
	text string // the current token as written; empty at the end
	word bool   // the token is a key, a value, or an operator such as in
}

// The characters between tokens, and those that begin a token which is no word.
const (
	labelBlanks = " \t\r\n"
	labelMarks  = ",()<>=!"
)

// next moves to the next token.
func (s *labelScanner) next() {
	s.rest = strings.TrimLeft(s.rest, labelBlanks)
	if s.rest == "" || s.rest[0] == 0 {
		s.text, s.word = "", false
		return
	}
	length := 1
	if s.word = strings.IndexByte(labelMarks, s.rest[0]) < 0; s.word {
		length = len(s.rest)
		if end := strings.IndexAny(s.rest, labelMarks+labelBlanks+"\x00"); end >= 0 {
			length = end
		}
	} else if strings.HasPrefix(s.rest, labelDoubleEquals) || strings.HasPrefix(s.rest, labelNotEquals) {
		length = 2
	}
	s.text, s.rest = s.rest[:length], strings.TrimPrefix(s.rest[length:], "\x00")
}
