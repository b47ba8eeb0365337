package httpapi

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the Warning headers of one answer, in characters (upstream:
// apiserver, endpoints/filters/warning.go).
const (
	warningsTotal = 4096
	warningCut    = 256
)

// warnings keeps the Warning headers of one answer: each text once, and all of
// them cut short once they would take up too much together.
type warnings struct {
	texts   []string
	seen    map[string]bool
	written int
	cutting bool
}

func (ws *warnings) add(h http.Header, text string) {
	if text == "" || ws.cutting && ws.written >= warningsTotal || ws.seen[text] {
		return
	}
	if ws.seen == nil {
		ws.seen = map[string]bool{}
	}
	ws.seen[text] = true
	ws.texts = append(ws.texts, text)
	if ws.cutting || ws.written+utf8.RuneCountInString(text) <= warningsTotal {
		ws.write(h, text)
		return
	}
	ws.cutting, ws.written = true, 0
	h.Del("Warning")
	for _, t := range ws.texts {
		ws.write(h, t)
	}
}

func (ws *warnings) write(h http.Header, text string) {
	if ws.cutting {
		text = cut(text, warningCut)
	}
	// What cannot stand in a header is left out, but takes its place.
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return
	}
	ws.written += utf8.RuneCountInString(text)
	h.Add("Warning", `299 - "`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)+`"`)
}

// cut returns the first n characters of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
