package yaml

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// chunkSize is the number of bytes that v2 reads and checks at a time. A
// character that is not allowed is reported once its chunk is needed: after
// mistakes in earlier chunks, and before those in its own.
const chunkSize = 512

// padding stands behind the text, so that looking ahead needs no checks. NUL
// is not allowed in YAML, hence it always means the end.
const padding = "\x00\x00\x00\x00\x00\x00\x00\x00"

// source is a stream as UTF-8 without its byte order mark.
type source struct {
	text string // padded
	size int    // without the padding
	err  error  // what comes after the text; nil for the end of the stream
}

// decoder takes the first character off some bytes. It returns a width of
// zero when they end inside the character.
type decoder func(data string) (char rune, width int, err error)

// newSource detects the encoding by the byte order mark and checks the text up
// to the first character that is not allowed.
func newSource(data []byte) source {
	raw := string(data)
	switch {
	case strings.HasPrefix(raw, "\xff\xfe"):
		return decodeAll(raw, 2, decodeUTF16LE, errors.New("yaml: incomplete UTF-16 character"))
	case strings.HasPrefix(raw, "\xfe\xff"):
		return decodeAll(raw, 2, decodeUTF16BE, errors.New("yaml: incomplete UTF-16 character"))
	case strings.HasPrefix(raw, "\xef\xbb\xbf"):
		return decodeAll(raw, 3, decodeUTF8, errors.New("yaml: incomplete UTF-8 octet sequence"))
	}
	if plainText(raw) {
		return source{text: raw + padding, size: len(raw)}
	}
	return decodeAll(raw, 0, decodeUTF8, errors.New("yaml: incomplete UTF-8 octet sequence"))
}

// plainText tells whether everything is ASCII and allowed.
func plainText(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// decodeAll decodes raw from start on, chunk by chunk.
func decodeAll(raw string, start int, decode decoder, incomplete error) source {
	text := make([]byte, 0, len(raw)+len(padding))
	end := func(size int, err error) source {
		return source{text: string(text[:size]) + padding, size: size, err: err}
	}
	chunkEnd := min(len(raw), chunkSize)
	chunkText := 0 // where the text of the chunk starts
	for pos := start; pos < len(raw); {
		char, width, err := decode(raw[pos:chunkEnd])
		switch {
		case width == 0 && err == nil && chunkEnd == len(raw):
			if strings.HasPrefix(incomplete.Error(), "yaml: incomplete UTF-16") && len(raw)-pos >= 2 {
				incomplete = errors.New("yaml: incomplete UTF-16 surrogate pair")
			}
			return end(len(text), incomplete)
		case width == 0 && err == nil:
			chunkEnd, chunkText = min(len(raw), pos+chunkSize), len(text)
			continue
		case err == nil && !allowed(char):
			err = errors.New("yaml: control characters are not allowed")
		}
		if err != nil {
			return end(chunkText, err)
		}
		text = utf8.AppendRune(text, char)
		pos += width
	}
	return end(len(text), nil)
}

// allowed tells whether a character may stand in a YAML stream.
func allowed(c rune) bool {
	switch {
	case c < ' ':
		return c == '\t' || c == '\n' || c == '\r'
	case c < 0xa0:
		return c <= '~' || c == 0x85
	default:
		return c <= 0xfffd || c >= 0x10000
	}
}

func decodeUTF8(data string) (rune, int, error) {
	if data == "" {
		return 0, 0, nil
	}
	first := data[0]
	width := utf8Width(first)
	if width == 0 {
		return 0, 0, errors.New("yaml: invalid leading UTF-8 octet")
	}
	if width > len(data) {
		return 0, 0, nil
	}
	if width == 1 {
		return rune(first), 1, nil
	}
	char := rune(first) & (0x7f >> width)
	for i := 1; i < width; i++ {
		if data[i]&0xc0 != 0x80 {
			return 0, 0, errors.New("yaml: invalid trailing UTF-8 octet")
		}
		char = char<<6 | rune(data[i]&0x3f)
	}
	if utf8.RuneLen(char) != width && (char < 0xd800 || char > 0xdfff) && char <= utf8.MaxRune {
		return 0, 0, errors.New("yaml: invalid length of a UTF-8 sequence")
	}
	if !utf8.ValidRune(char) {
		return 0, 0, errors.New("yaml: invalid Unicode character")
	}
	return char, width, nil
}

// utf8Width returns the width of the character that starts with b, zero if
// none does.
func utf8Width(b byte) int {
	switch {
	case b&0x80 == 0:
		return 1
	case b&0xe0 == 0xc0:
		return 2
	case b&0xf0 == 0xe0:
		return 3
	case b&0xf8 == 0xf0:
		return 4
	}
	return 0
}

func decodeUTF16LE(data string) (rune, int, error) { return decodeUTF16(data, 0, 1) }

func decodeUTF16BE(data string) (rune, int, error) { return decodeUTF16(data, 1, 0) }

// decodeUTF16 decodes with the low and high byte of a unit at these places.
func decodeUTF16(data string, low, high int) (rune, int, error) {
	if len(data) < 2 {
		return 0, 0, nil
	}
	unit := rune(data[low]) | rune(data[high])<<8
	switch unit & 0xfc00 {
	case 0xdc00:
		return 0, 0, errors.New("yaml: unexpected low surrogate area")
	case 0xd800:
	default:
		return unit, 2, nil
	}
	if len(data) < 4 {
		return 0, 0, nil
	}
	second := rune(data[2+low]) | rune(data[2+high])<<8
	if second&0xfc00 != 0xdc00 {
		return 0, 0, errors.New("yaml: expected low surrogate area")
	}
	return 0x10000 + (unit&0x3ff)<<10 + second&0x3ff, 4, nil
}
