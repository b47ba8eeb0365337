package timeline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean replaces characters that do not print: control characters, line ends, marks
// that change the direction of writing, and wrong UTF-8. The result is safe in a
// terminal; escape makes it safe in XML.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// escape returns a text for XML, also for an attribute.
func escape(s string) string { return escaper.Replace(clean(s)) }

// fit cuts a text to a width, measured in small letters.
func fit(s string, most float64) string {
	runes, width := []rune(short(s, 200)), 0.0
	for i, r := range runes {
		switch {
		case r >= 0x1100: // scripts with wide letters begin here
			width += 1.9
		case unicode.IsUpper(r):
			width += 1.5
		default:
			width++
		}
		if width > most {
			return string(runes[:max(i-1, 0)]) + "…"
		}
	}
	return string(runes)
}

// short cuts a text to a number of characters. The last one is then an ellipsis.
func short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
