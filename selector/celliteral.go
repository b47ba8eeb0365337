package selector

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literal makes a node of a word that is a literal. Sign is "-" for a negative number. A value out of range is an error
// told only if the rest of the expression has none (cel-go, parser VisitInt and the like).
func literal(word celWordAt, sign string) (celNode, error) {
	node := celNode{kind: celLiteral}
	var err error
	switch word.kind {
	case celInt:
		node.goType = "int64"
		digits, base := number(word.text)
		if _, e := strconv.ParseInt(sign+digits, base, 64); e != nil {
			err = errors.New("invalid int literal")
		}
	case celUint:
		node.goType = "uint64"
		digits, base := number(word.text[:len(word.text)-1])
		if _, e := strconv.ParseUint(digits, base, 64); e != nil {
			err = errors.New("invalid uint literal")
		}
	case celFloat:
		node.goType = "float64"
		if _, e := strconv.ParseFloat(word.text, 64); e != nil {
			err = errors.New("invalid double literal")
		}
	case celTrue, celFalse:
		node.goType = "bool"
	case celNull:
		node.goType = "structpb.NullValue"
	case celString:
		node.goType = "string"
		node.name, err = unquote(word.text)
	case celBytes:
		node.goType = "[]uint8"
		err = checkBytes(word.text[1:])
	}
	return node, err
}

// number returns the digits of an integer without prefix, and their base.
func number(s string) (digits string, base int) {
	if hex, found := strings.CutPrefix(s, "0x"); found {
		return hex, 16
	}
	return s, 10
}

// unquote returns the value of a string as the scanner found it (cel-go, parser unescape).
func unquote(s string) (string, error) {
	body, raw := unwrap(s)
	if raw || strings.IndexByte(body, '\\') < 0 {
		return body, nil
	}
	var b strings.Builder
	for body != "" {
		if body[0] != '\\' {
			b.WriteByte(body[0])
			body = body[1:]
			continue
		}
		length, _ := scanEscape(body)
		r := escaped(body[:length])
		if !utf8.ValidRune(r) {
			return "", errors.New("invalid unicode code point")
		}
		b.WriteRune(r)
		body = body[length:]
	}
	return b.String(), nil
}

// checkBytes refuses the one thing that may be wrong with bytes the scanner accepted: a code point, which is no byte.
func checkBytes(s string) error {
	body, raw := unwrap(s)
	for !raw && body != "" {
		length := 1
		if body[0] == '\\' {
			if length, _ = scanEscape(body); body[1] == 'u' || body[1] == 'U' {
				return errors.New("unable to unescape string")
			}
		}
		body = body[length:]
	}
	return nil
}

// unwrap takes the quotes off a string and makes every line end a single newline.
func unwrap(s string) (body string, raw bool) {
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	}
	if s[0] == 'r' || s[0] == 'R' {
		s, raw = s[1:], true
	}
	quotes := 1
	if triple := strings.Repeat(s[:1], 3); len(s) >= 6 && strings.HasPrefix(s, triple) {
		quotes = 3
	}
	return s[quotes : len(s)-quotes], raw
}

// escaped returns the character which an escape sequence stands for. The scanner has checked its form.
func escaped(s string) rune {
	base, digits := 16, s[2:]
	switch c := s[1]; {
	case '0' <= c && c <= '3':
		base, digits = 8, s[1:]
	case digits == "":
		const letters, values = "abfnrtv", "\a\b\f\n\r\t\v"
		if i := strings.IndexByte(letters, c); i >= 0 {
			return rune(values[i])
		}
		return rune(c)
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil {
		return -1 // more than a rune holds
	}
	return rune(n)
}
