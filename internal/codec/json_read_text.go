package codec

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// quoted skips a string and returns the text between its quotes, which may have escapes. If
// it is not ASCII, it may be invalid UTF-8.
func (r *jsonReader) quoted() (text []byte, form textForm, ok bool) {
	if r.at == len(r.data) || r.data[r.at] != '"' {
		return nil, 0, false
	}
	start := r.at + 1
	for i := start; ; {
		i += plainLen(r.data[i:])
		if i == len(r.data) {
			return nil, 0, false
		}
		switch c := r.data[i]; {
		case c == '"':
			r.at = i + 1
			return r.data[start:i], form, true
		case c == '\\':
			n := escapeLen(r.data[i:])
			if n == 0 {
				return nil, 0, false
			}
			form |= escaped
			i += n
		case c < ' ':
			return nil, 0, false
		default:
			form |= notASCII
			i++
		}
	}
}

// textForm records what a JSON string holds beside plain ASCII.
type textForm uint8

const (
	escaped textForm = 1 << iota
	notASCII
)

// plainLen returns the number of bytes at the start of b that a string holds as they are:
// ASCII without quotes, backslashes and control characters. It tests eight bytes at a
// time; the first byte that it finds is exact, as borrows only reach later ones.
func plainLen(b []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := x^'"'*ones, x^'\\'*ones
		if found := (x | (quote-ones)&^quote | (backslash-ones)&^backslash | (x-' '*ones)&^x) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// escapeLen returns the length of the escape at the start of b, or 0 if it is not valid.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hexRune(b); ok {
			return 6
		}
	}
	return 0
}

// hexRune returns the character of an escape of the form \u1234.
func hexRune(b []byte) (rune, bool) {
	if len(b) < 6 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n), err == nil
}

// text reads a string. If like is equal, it returns like, which needs no memory.
func (r *jsonReader) text(like *string) (string, bool) {
	text, form, ok := r.quoted()
	switch {
	case !ok || form&notASCII != 0 && !utf8.Valid(text):
		return "", false
	case form&escaped != 0:
		return unescape(text)
	}
	return textLike(text, like), true
}

// textLike returns b as a string: like, if that is equal.
func textLike(b []byte, like *string) string {
	if like != nil && *like == string(b) {
		return *like
	}
	return string(b)
}

// unescape replaces the escapes of a string, which are valid. It returns false for
// surrogates.
func unescape(text []byte) (string, bool) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		switch i++; text[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			c, _ := hexRune(text[i-1:])
			if !utf8.ValidRune(c) {
				return "", false
			}
			out = utf8.AppendRune(out, c)
			i += 4
		default:
			out = append(out, text[i])
		}
	}
	return string(out), true
}
