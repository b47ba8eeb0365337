package codec

import (
	"encoding/base64"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// atEnd reports whether nothing but spaces follows.
func (r *jsonReader) atEnd() bool { return r.peek() == 0 && r.at == len(r.data) }

// peek skips spaces and returns the next byte, or 0 at the end.
func (r *jsonReader) peek() byte {
	for ; r.at < len(r.data); r.at++ {
		switch c := r.data[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// open skips the bracket that the reader is at. empty reports whether the value ends
// immediately; the closing bracket is then skipped too.
func (r *jsonReader) open(closing byte) (empty, ok bool) {
	r.at++
	if r.depth++; r.depth > maxReadDepth {
		return false, false
	}
	if r.peek() != closing {
		return false, true
	}
	r.at++
	r.depth--
	return true, true
}

// more skips a comma or the closing bracket, and reports whether another member or item
// follows.
func (r *jsonReader) more(closing byte) (more, ok bool) {
	switch r.peek() {
	case ',':
		r.at++
		return true, true
	case closing:
		r.at++
		r.depth--
		return false, true
	}
	return false, false
}

// word skips a literal such as null.
func (r *jsonReader) word(w string) bool {
	if len(r.data)-r.at < len(w) || string(r.data[r.at:r.at+len(w)]) != w {
		return false
	}
	r.at += len(w)
	return true
}

// skip skips a byte if it is c.
func (r *jsonReader) skip(c byte) bool {
	if r.at == len(r.data) || r.data[r.at] != c {
		return false
	}
	r.at++
	return true
}

// digits skips digits and reports whether there was one.
func (r *jsonReader) digits() bool {
	start := r.at
	for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
	}
	return r.at > start
}

// number skips a number and returns it.
func (r *jsonReader) number() ([]byte, bool) {
	start := r.at
	r.skip('-')
	if !r.skip('0') && !r.digits() || r.skip('.') && !r.digits() {
		return nil, false
	}
	if r.skip('e') || r.skip('E') {
		if !r.skip('+') {
			r.skip('-')
		}
		if !r.digits() {
			return nil, false
		}
	}
	return r.data[start:r.at], true
}

func (r *jsonReader) integer() (int64, bool) {
	token, ok := r.number()
	n, err := strconv.ParseInt(string(token), 10, 64)
	return n, ok && err == nil
}

func (r *jsonReader) float() (float64, bool) {
	token, ok := r.number()
	f, err := strconv.ParseFloat(string(token), 64)
	return f, ok && err == nil
}

func (r *jsonReader) bytes() ([]byte, bool) {
	text, form, ok := r.quoted()
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	return out[:n], ok && form == 0 && err == nil
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
	for _, likely := range r.likely {
		if likely == string(text) {
			return likely, true
		}
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

// textForm records the content of a JSON string that is not plain ASCII.
type textForm uint8

const (
	escaped textForm = 1 << iota
	notASCII
)

// quoted skips a string and returns the text between its quotes, which may have escapes. If
// it is not ASCII, it may be invalid UTF-8.
func (r *jsonReader) quoted() (text []byte, form textForm, ok bool) {
	if r.at == len(r.data) || r.data[r.at] != '"' {
		return nil, 0, false
	}
	start := r.at + 1
	for i := start; ; {
		i += PlainLen(r.data[i:], false)
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

// PlainLen returns the number of bytes at the start of text that a string holds as they are:
// ASCII without quotes, backslashes and control characters, and if html is set without <, > and &.
// It tests eight bytes at a time, the last ones of them perhaps twice; the first byte that it finds is exact, as borrows only
// reach later ones.
func PlainLen[T string | []byte](text T, html bool) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	last := len(text) - 8
	for i := 0; last >= 0; i = min(i+8, last) {
		x := littleEndian(text[i : i+8])
		quote, backslash := x^'"'*ones, x^'\\'*ones
		found := x | (quote-ones)&^quote | (backslash-ones)&^backslash | (x-' '*ones)&^x
		if html {
			angle, and := (x|2*ones)^'>'*ones, x^'&'*ones // < and > differ in one bit
			found |= (angle-ones)&^angle | (and-ones)&^and
		}
		if found &= high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
		if i == last {
			return len(text)
		}
	}
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || html && (c == '<' || c == '>' || c == '&') {
			return i
		}
	}
	return len(text)
}

// littleEndian returns the number of eight bytes.
func littleEndian[T string | []byte](b T) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// The letters of the escapes of one letter, and their characters.
const (
	escapeLetters = `"\/bfnrt`
	escapedBytes  = "\"\\/\b\f\n\r\t"
)

// escapeLen returns the length of the escape at the start of b, or 0 if it is not valid.
func escapeLen(b []byte) int {
	switch {
	case len(b) >= 2 && strings.IndexByte(escapeLetters, b[1]) >= 0:
		return 2
	case len(b) >= 6 && b[1] == 'u' && hexRune(b[2:6]) >= 0:
		return 6
	}
	return 0
}

// hexRune returns the character that four hexadecimal digits stand for, or -1.
func hexRune(b []byte) rune {
	n, err := strconv.ParseUint(string(b), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
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
		i++
		if letter := strings.IndexByte(escapeLetters, text[i]); letter >= 0 {
			out = append(out, escapedBytes[letter])
			continue
		}
		c := hexRune(text[i+1 : i+5])
		if !utf8.ValidRune(c) {
			return "", false
		}
		out = utf8.AppendRune(out, c)
		i += 4
	}
	return string(out), true
}
