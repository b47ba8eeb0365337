package selector

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// celToken is a kind of word in an expression. The order is that of cel-go's grammar, and thus that of the lists in texts.
type celToken uint8

const (
	celEnd celToken = iota
	celEqual
	celNotEqual
	celIn
	celLess
	celLessEqual
	celGreaterEqual
	celGreater
	celAndAnd
	celOrOr
	celOpenBracket
	celCloseBracket
	celOpenBrace
	celCloseBrace
	celOpenParen
	celCloseParen
	celDot
	celComma
	celMinus
	celNot
	celQuestion
	celColon
	celPlus
	celTimes
	celDivide
	celModulo
	celTrue
	celFalse
	celNull
	celFloat
	celInt
	celUint
	celString
	celBytes
	celWord
	celQuotedWord
	celTokenCount
)

// String returns the kind as error texts name it.
func (t celToken) String() string {
	names := [celTokenCount]string{
		"<EOF>", "'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'", "'&&'", "'||'", "'['", "']'", "'{'", "'}'", "'('", "')'",
		"'.'", "','", "'-'", "'!'", "'?'", "':'", "'+'", "'*'", "'/'", "'%'", "'true'", "'false'", "'null'", "NUM_FLOAT",
		"NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER", "ESC_IDENTIFIER",
	}
	return names[t]
}

// celWordAt is one word of an expression: its kind, its spelling, and where it starts.
type celWordAt struct {
	kind  celToken
	text  string
	start int
}

// String returns the word as error texts show it.
func (w celWordAt) String() string {
	if w.kind == celEnd {
		return "<EOF>"
	}
	return visible(w.text)
}

// visible replaces the control characters which a word may contain.
func visible(s string) string {
	return strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(s)
}

// celScanner splits an expression, which is UTF-8, into words.
type celScanner struct {
	text string
	at   int
	err  error // the first thing that is no word; the text counts as ending there
}

// next returns the next word. Behind the last it returns celEnd again and again.
func (s *celScanner) next() celWordAt {
	s.skipBlanks()
	rest := s.text[s.at:]
	kind, length := celEnd, 0
	if rest != "" {
		if kind, length = scanCEL(rest); kind == celEnd {
			s.err = fmt.Errorf("Syntax error: token recognition error at: '%s'", rest[:length])
			s.at, rest, length = len(s.text), "", 0
		}
	}
	word := celWordAt{kind, rest[:length], s.at}
	s.at += length
	return word
}

// skipBlanks skips white space, and comments up to the end of their line.
func (s *celScanner) skipBlanks() {
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case strings.IndexByte(" \t\r\n\f", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "//"):
			if line := strings.IndexByte(rest, '\n'); line >= 0 {
				s.at += line
			} else {
				s.at = len(s.text)
			}
		default:
			return
		}
	}
}

// scanCEL returns kind and length of the word at the start of s, which is not empty. If there is none it returns celEnd and
// the length of what was read in vain, the character that did not fit included.
func scanCEL(s string) (celToken, int) {
	c := s[0]
	switch {
	case isLetter(c):
		if kind, length := scanPrefixedString(s); kind != celEnd {
			return kind, length
		}
		return scanWord(s)
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		return scanNumber(s)
	case c == '"' || c == '\'':
		return scanString(s)
	case c == '`':
		return scanQuotedWord(s)
	}

	if len(s) > 1 {
		switch s[:2] {
		case "==":
			return celEqual, 2
		case "!=":
			return celNotEqual, 2
		case "<=":
			return celLessEqual, 2
		case ">=":
			return celGreaterEqual, 2
		case "&&":
			return celAndAnd, 2
		case "||":
			return celOrOr, 2
		}
	}
	const marks = "<>[]{}().,-!?:+*/%"
	kinds := [...]celToken{celLess, celGreater, celOpenBracket, celCloseBracket, celOpenBrace, celCloseBrace, celOpenParen,
		celCloseParen, celDot, celComma, celMinus, celNot, celQuestion, celColon, celPlus, celTimes, celDivide, celModulo}
	if i := strings.IndexByte(marks, c); i >= 0 {
		return kinds[i], 1
	}
	if c == '=' || c == '&' || c == '|' {
		return celEnd, through(s, 1)
	}
	return celEnd, through(s, 0)
}

// through returns the length of s up to the character at i and with it.
func through(s string, i int) int {
	_, size := utf8.DecodeRuneInString(s[i:])
	return i + size
}

func scanWord(s string) (celToken, int) {
	length := 1
	for length < len(s) && (isLetter(s[length]) || isDigit(s[length])) {
		length++
	}
	switch s[:length] {
	case "in":
		return celIn, length
	case "true":
		return celTrue, length
	case "false":
		return celFalse, length
	case "null":
		return celNull, length
	}
	return celWord, length
}

// scanQuotedWord reads a name in backquotes, which may stand behind a dot.
func scanQuotedWord(s string) (celToken, int) {
	for i := 1; i < len(s); i++ {
		c := s[i]
		if c == '`' && i > 1 {
			return celQuotedWord, i + 1
		}
		if !isLetter(c) && !isDigit(c) && strings.IndexByte(".-/ ", c) < 0 {
			return celEnd, through(s, i)
		}
	}
	return celEnd, len(s)
}

// scanNumber reads as much as can be a number: "1e" is the number 1 and a word.
func scanNumber(s string) (celToken, int) {
	if hex := strings.TrimPrefix(s, "0x"); hex != s {
		if n := countWhile(hex, isHexDigit); n > 0 {
			return withUnsigned(s, len("0x")+n)
		}
	}
	length := countWhile(s, isDigit)
	kind := celInt
	if length < len(s) && s[length] == '.' {
		if n := countWhile(s[length+1:], isDigit); n > 0 {
			kind, length = celFloat, length+1+n
		}
	}
	if exponent := s[length:]; exponent != "" && (exponent[0] == 'e' || exponent[0] == 'E') {
		sign := 1
		if len(exponent) > 1 && (exponent[1] == '+' || exponent[1] == '-') {
			sign = 2
		}
		if n := countWhile(exponent[sign:], isDigit); n > 0 {
			return celFloat, length + sign + n
		}
	}
	if kind == celFloat {
		return celFloat, length
	}
	return withUnsigned(s, length)
}

func withUnsigned(s string, length int) (celToken, int) {
	if length < len(s) && (s[length] == 'u' || s[length] == 'U') {
		return celUint, length + 1
	}
	return celInt, length
}

// scanPrefixedString reads a string with b for bytes, r for raw, or both in front. It returns celEnd when s is none: then
// the letters are a word.
func scanPrefixedString(s string) (celToken, int) {
	kind, prefix := celString, 0
	if s[0] == 'b' || s[0] == 'B' {
		kind, prefix = celBytes, 1
	}
	raw := prefix < len(s) && (s[prefix] == 'r' || s[prefix] == 'R')
	if raw {
		prefix++
	}
	if length, ok := scanQuotes(s[prefix:], raw); ok && prefix > 0 {
		return kind, prefix + length
	}
	return celEnd, 0
}

func scanString(s string) (celToken, int) {
	length, ok := scanQuotes(s, false)
	if !ok {
		return celEnd, length
	}
	return celString, length
}

// scanQuotes reads a string from quote to quote, three of them if that makes the longer word. If there is none it returns
// the length of what was read in vain.
func scanQuotes(s string, raw bool) (int, bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return 0, false
	}
	if triple := strings.Repeat(s[:1], 3); strings.HasPrefix(s, triple) {
		if length, ok := scanUntil(s, triple, raw); ok {
			return length, true
		}
	}
	return scanUntil(s, s[:1], raw)
}

// scanUntil reads a string that starts and ends with the given quote. Only three quotes may hold line ends.
func scanUntil(s, quote string, raw bool) (int, bool) {
	for i := len(quote); i < len(s); {
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote), true
		case len(quote) == 1 && (c == '\n' || c == '\r'):
			return i + 1, false
		case c == '\\' && !raw:
			length, ok := scanEscape(s[i:])
			if i += length; !ok {
				return i, false
			}
		default:
			i = through(s, i)
		}
	}
	return len(s), false
}

// scanEscape returns the length of the escape sequence at the start of s, or of what was read in vain.
func scanEscape(s string) (int, bool) {
	if len(s) < 2 {
		return len(s), false
	}
	length, fits := 2, isHexDigit
	switch c := s[1]; {
	case strings.IndexByte("abfnrtv\"'\\?`", c) >= 0:
		return 2, true
	case c == 'x' || c == 'X':
		length = 4
	case c == 'u':
		length = 6
	case c == 'U':
		length = 10
	case '0' <= c && c <= '3':
		length, fits = 4, isOctalDigit
	default:
		return through(s, 1), false
	}
	for i := 2; i < length; i++ {
		if i == len(s) {
			return i, false
		}
		if !fits(s[i]) {
			return through(s, i), false
		}
	}
	return length, true
}

func countWhile(s string, fits func(byte) bool) int {
	n := 0
	for n < len(s) && fits(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool {
	return '0' <= c && c <= '9'
}

func isOctalDigit(c byte) bool {
	return '0' <= c && c <= '7'
}

func isHexDigit(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
