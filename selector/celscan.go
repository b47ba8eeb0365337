package selector

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// celTokenKind is a kind of token. Marks include the operator in and every character that begins no token.
type celTokenKind int

const (
	celEnd celTokenKind = iota
	celMark
	celWord
	celQuotedWord // in backquotes
	celValue      // a literal
)

// celToken is one token of an expression.
type celToken struct {
	kind   celTokenKind
	text   string // as written
	start  int
	goType string // of a literal: the Go type of its value in cel-go
	value  string // of a string literal
}

// celScanner splits an expression into the tokens of cel-go's grammar.
type celScanner struct {
	text  string // valid UTF-8
	at    int
	token celToken // the current token
}

// next moves to the next token. Behind the last one it stays at celEnd.
func (s *celScanner) next() {
	for {
		s.at += span(s.text[s.at:], " \t\r\n\f")
		if !strings.HasPrefix(s.text[s.at:], "//") {
			break
		}
		comment, _, _ := strings.Cut(s.text[s.at:], "\n")
		s.at += len(comment)
	}
	s.token = scanCEL(s.text[s.at:])
	s.token.start = s.at
	s.at += len(s.token.text)
}

const (
	celDigits  = "0123456789"
	celHex     = celDigits + "abcdefABCDEF"
	celLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
)

// span returns the length of the longest prefix that holds only the given characters.
func span(s, characters string) int {
	return len(s) - len(strings.TrimLeft(s, characters))
}

// scanCEL returns the token at the start of s.
func scanCEL(s string) celToken {
	if s == "" {
		return celToken{kind: celEnd}
	}
	if prefix := celStringPrefix(s); prefix >= 0 {
		return scanCELString(s, prefix)
	}
	if length := span(s, celLetters); length > 0 {
		return scanCELWord(s[:span(s, celLetters+celDigits)])
	}
	if span(strings.TrimPrefix(s, "."), celDigits) > 0 {
		return scanCELNumber(s)
	}
	if length := span(s[1:], celLetters+celDigits+".-/ "); s[0] == '`' && length > 0 && strings.HasPrefix(s[1+length:], "`") {
		return celToken{kind: celQuotedWord, text: s[:length+2]}
	}
	for _, operator := range []string{"==", "!=", "<=", ">=", "&&", "||"} {
		if strings.HasPrefix(s, operator) {
			return celToken{kind: celMark, text: operator}
		}
	}
	_, size := utf8.DecodeRuneInString(s)
	return celToken{kind: celMark, text: s[:size]}
}

func scanCELWord(word string) celToken {
	token := celToken{kind: celWord, text: word}
	switch word {
	case "in":
		token.kind = celMark
	case "true", "false":
		token.kind, token.goType = celValue, "bool"
	case "null":
		token.kind, token.goType = celValue, "structpb.NullValue"
	}
	return token
}

// scanCELNumber takes as much as can be a number: "1e" is the number 1 and a word.
func scanCELNumber(s string) celToken {
	length, goType := span(s, celDigits), "int64"
	if hex := strings.TrimPrefix(s, "0x"); hex != s && span(hex, celHex) > 0 {
		length = len("0x") + span(hex, celHex)
	} else {
		if fraction := strings.TrimPrefix(s[length:], "."); fraction != s[length:] && span(fraction, celDigits) > 0 {
			length, goType = length+len(".")+span(fraction, celDigits), "float64"
		}
		if exponent := strings.TrimLeft(s[length:], "eE"); len(exponent) == len(s)-length-1 {
			sign := min(span(exponent, "+-"), 1)
			if digits := span(exponent[sign:], celDigits); digits > 0 {
				length, goType = length+1+sign+digits, "float64"
			}
		}
	}
	if goType == "int64" && span(s[length:], "uU") > 0 {
		length, goType = length+1, "uint64"
	}
	return celToken{kind: celValue, text: s[:length], goType: goType}
}

// celStringPrefix returns the length of what may stand before a quote, b for bytes and r for raw, or -1 if s starts no
// string.
func celStringPrefix(s string) int {
	prefix := min(span(s, "bB"), 1)
	prefix += min(span(s[prefix:], "rR"), 1)
	if span(s[prefix:], `"'`) == 0 {
		return -1
	}
	return prefix
}

// scanCELString reads a string between quotes, or between three quotes each, where it may contain line ends. A string
// that does not end, or that holds a wrong escape sequence, is a mark.
func scanCELString(s string, prefix int) celToken {
	mark := celToken{kind: celMark, text: s[:prefix+1]}
	goType, raw := "string", strings.ContainsAny(s[:prefix], "rR")
	if strings.ContainsAny(s[:prefix], "bB") {
		goType = "[]uint8"
	}
	quote := s[prefix : prefix+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[prefix:], triple) {
		quote = triple
	}
	var value strings.Builder
	for i := prefix + len(quote); i < len(s); {
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], quote):
			return celToken{kind: celValue, text: s[:i+len(quote)], goType: goType, value: value.String()}
		case len(quote) == 1 && (c == '\n' || c == '\r'):
			return mark
		case c == '\\' && !raw:
			r, length := unescapeCEL(s[i:])
			if length == 0 {
				return mark
			}
			value.WriteRune(r)
			i += length
		default:
			value.WriteByte(c)
			i++
		}
	}
	return mark
}

// unescapeCEL returns the character of the escape sequence at the start of s and the length of the sequence, which is 0
// if it is wrong.
func unescapeCEL(s string) (r rune, length int) {
	if len(s) < 2 {
		return 0, 0
	}
	const letters, values = "abfnrtv\\\"'?`", "\a\b\f\n\r\t\v\\\"'?`"
	if i := strings.IndexByte(letters, s[1]); i >= 0 {
		return rune(values[i]), 2
	}
	start, base := 2, 16
	switch s[1] {
	case 'x', 'X':
		length = 4
	case 'u':
		length = 6
	case 'U':
		length = 10
	case '0', '1', '2', '3':
		start, length, base = 1, 4, 8
	}
	if length == 0 || len(s) < length {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[start:length], base, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0, 0
	}
	return rune(n), length
}
