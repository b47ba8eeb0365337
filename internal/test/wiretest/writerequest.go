package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// requestLines writes a step as stepText reads it, without its answer.
func requestLines(s Step) []string {
	var line string
	switch {
	case s.Close != "":
		line = "close " + s.Close
	case s.Collect != nil:
		line = collectLine(*s.Collect)
	default:
		line = requestLine(s)
	}
	lines := []string{line}
	if isBlock(s.BodyText) {
		lines = append(lines, block(s.BodyText)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		if name != "Content-Type" || patchWord(s) == "" {
			lines = append(lines, name+": "+s.Headers[name])
		}
	}
	captures := s.Capture
	if s.Collect != nil {
		captures = s.Collect.Capture
	}
	for _, name := range slices.Sorted(maps.Keys(captures)) {
		lines = append(lines, "keep "+name+" "+captures[name])
	}
	if s.Compare.Body != "" {
		lines = append(lines, "compare "+s.Compare.Body)
	}
	if len(s.Compare.Ignore) > 0 {
		lines = append(lines, "ignore "+strings.Join(s.Compare.Ignore, " "))
	}
	return lines
}

func collectLine(c Collect) string {
	line := fmt.Sprintf("collect %s %d", c.Stream, c.Events)
	if c.UntilClosed {
		line += " closed"
	}
	if c.SortByName {
		line += " sorted"
	}
	if c.TimeoutMs > 0 {
		line += fmt.Sprintf(" timeout=%dms", c.TimeoutMs)
	}
	return line
}

// queryEscape escapes characters with a meaning in a query.
var queryEscape = strings.NewReplacer(" ", "+", "+", "%2B", "%", "%25", "&", "%26", "\t", "%09", "\n", "%0A")

func requestLine(s Step) string {
	line := s.Method + " " + s.Path
	if s.Open != "" {
		line = s.Open + " = " + line
	}
	if s.RawQuery != "" {
		line += "??" + s.RawQuery
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(s.Query)) {
		pairs = append(pairs, name+"="+queryEscape.Replace(s.Query[name]))
	}
	if len(pairs) > 0 {
		line += "?" + strings.Join(pairs, "&")
	}
	if word := patchWord(s); word != "" {
		line += " " + word
	}
	switch {
	case len(s.Body) > 0:
		line += " " + string(s.Body)
	case len(s.BodyProtobuf) > 0:
		line += " protobuf " + string(s.BodyProtobuf)
	case s.BodyRepeat != nil:
		repeat, _ := json.Marshal(s.BodyRepeat)
		line += " repeat " + string(repeat)
	case isBlock(s.BodyText):
		line += " text"
	case s.BodyText != "":
		line += " text " + textWord(s.BodyText)
	}
	return line
}

// patchWord returns the word for the media type that a step sends, if it has one.
func patchWord(s Step) string {
	for word, mediaType := range patchTypes() {
		if s.Headers["Content-Type"] == mediaType {
			return word
		}
	}
	return ""
}

// isBlock reports whether a text is written as lines.
func isBlock(text string) bool { return strings.HasSuffix(text, "\n") && strings.Count(text, "\n") > 1 }

// textWord returns a text, quoted if it would be read as something else.
func textWord(text string) string {
	if text == "" || text[0] == '"' || strings.TrimSpace(text) != text || strings.ContainsAny(text, "\n\r\t") {
		return quote(text)
	}
	return text
}

func block(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, strings.TrimSuffix("| "+line, " "))
	}
	return lines
}
