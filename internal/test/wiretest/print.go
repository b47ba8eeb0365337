package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// requestLines writes a step as stepReader reads it, without its answer.
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

// queryEscape escapes what would be read otherwise in a query.
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
	for word, mediaType := range patchTypes {
		if s.Headers["Content-Type"] == mediaType {
			return word
		}
	}
	return ""
}

// isBlock reports whether a text is written as lines.
func isBlock(text string) bool { return strings.HasSuffix(text, "\n") && strings.Count(text, "\n") > 1 }

// textWord returns a text as it is, or quoted if it would be read otherwise.
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

// answerLines writes the outcome of a step.
func (r *stepReader) answerLines(s Step, e Expected) []string {
	var lines []string
	if s.Collect != nil {
		for _, event := range e.Events {
			lines = append(lines, r.eventText(event))
			object, _ := pointer(event, "/object")
			r.see(object)
		}
		if e.Closed {
			lines = append(lines, "closed")
		}
		return lines
	}
	if e.Status == 0 {
		return nil
	}
	head := fmt.Sprint(e.Status)
	if e.Indented {
		head += " indented"
	}
	if e.Protobuf {
		head += " protobuf"
	}
	body, more := r.bodyText(e)
	if body != "" {
		head += " " + body
	}
	lines = append(lines, head)
	lines = append(lines, r.headerLines(s, e)...)
	r.see(e.JSON)
	return append(lines, more...)
}

func (r *stepReader) headerLines(s Step, e Expected) []string {
	var lines []string
	usual := r.usualHeaders(s, e)
	for _, name := range comparedHeaders() {
		values := e.Headers[name]
		if slices.Equal(values, usual[name]) {
			continue
		}
		count := len(usual[name])
		switch {
		case len(values) == 0:
			values = []string{"-"}
		case name == "Warning" && count > 0 && slices.Equal(values[:min(count, len(values))], usual[name]):
			values = values[count:]
		case name == "Warning" && count > 0:
			values = slices.Concat([]string{"-"}, values)
		}
		for _, value := range values {
			lines = append(lines, "  "+name+": "+value)
		}
	}
	return lines
}

// bodyText writes a body on the line of the status, and what stands on lines below.
func (r *stepReader) bodyText(e Expected) (string, []string) {
	switch {
	case isBlock(e.Text):
		return "text", block(e.Text)
	case e.Text != "":
		return "text " + textWord(e.Text), nil
	case e.JSON == nil:
		return "", nil
	}
	if text, items, ok := r.listText(e.JSON); ok {
		return text, items
	}
	return r.treeText(e.Status, e.JSON), nil
}

// treeText writes a Status, an object, or else JSON.
func (r *stepReader) treeText(code int, tree any) string {
	if text, ok := statusText(code, tree); ok {
		return text
	}
	if object, ok := tree.(map[string]any); ok {
		if text, ok := r.objectText(object); ok {
			return text
		}
	}
	return compact(r.shorten(tree))
}

func statusText(code int, tree any) (string, bool) {
	node, _ := tree.(map[string]any)
	reason, _ := node["reason"].(string)
	text := "Success"
	if node["status"] != "Success" {
		if reason == "" {
			reason = "-"
		}
		text = reason + " " + compact(node["message"])
	} else {
		reason = "Success"
	}
	if node["details"] != nil {
		text += " " + compact(node["details"])
	}
	return text, reflect.DeepEqual(tree, any(newStatus(code, reason, node["message"], node["details"])))
}

func (r *stepReader) listText(tree any) (string, []string, bool) {
	list, _ := tree.(map[string]any)
	items, ok := list["items"].([]any)
	if !ok || list["kind"] != r.kind+"List" {
		return "", nil, false
	}
	head := newList(r.memory, metaString(list, "resourceVersion"))
	rest := maps.Clone(list)
	delete(rest, "items")
	patch := mergePatch(head, rest)
	if !reflect.DeepEqual(merge(head, patch), any(rest)) {
		return "", nil, false
	}
	text := "list " + metaString(list, "resourceVersion")
	if len(patch) > 0 {
		text += " + " + compact(patch)
	}
	var lines []string
	for _, item := range items {
		line := "  " + r.itemText(item)
		if last := len(lines) - 1; last >= 0 && refsForm.MatchString(line[2:]) && refsForm.MatchString(lines[last][2:]) {
			lines[last] += line[1:]
			continue
		}
		lines = append(lines, line)
	}
	return text, lines, true
}

func (r *stepReader) itemText(item any) string {
	object, ok := item.(map[string]any)
	if ok && object["kind"] == nil && object["apiVersion"] == nil {
		if text, ok := r.objectText(withType(object, r.version, r.kind)); ok {
			return text
		}
	}
	return compact(r.shorten(item))
}

func (r *stepReader) eventText(event any) string {
	node, _ := event.(map[string]any)
	code := 0
	if number, ok := pointer(node["object"], "/code"); ok {
		if n, ok := number.(json.Number); ok {
			c, _ := n.Int64()
			code = int(c)
		}
	}
	text := r.treeText(code, node["object"])
	if code > 0 && statusForm.MatchString(text) {
		text = fmt.Sprint(code, " ", text)
	}
	return fmt.Sprint(node["type"], " ", text)
}
