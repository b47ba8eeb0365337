package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// answerLines writes the outcome of a step.
func (t *stepText) answerLines(s Step, e Expected) []string {
	var lines []string
	if s.Collect != nil {
		for _, event := range e.Events {
			lines = append(lines, t.eventText(event))
			object, _ := pointer(event, "/object")
			t.see(object)
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
	body, more := t.bodyText(e)
	if body != "" {
		head += " " + body
	}
	lines = append(lines, head)
	lines = append(lines, t.headerLines(s, e)...)
	t.see(e.JSON)
	return append(lines, more...)
}

func (t *stepText) headerLines(s Step, e Expected) []string {
	var lines []string
	usual := t.usualHeaders(s, e)
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

// bodyText writes a body: the part on the line of the status, and the lines below.
func (t *stepText) bodyText(e Expected) (string, []string) {
	switch {
	case isBlock(e.Text):
		return "text", block(e.Text)
	case e.Text != "":
		return "text " + textWord(e.Text), nil
	case e.JSON == nil:
		return "", nil
	}
	if text, items, ok := t.listText(e.JSON); ok {
		return text, items
	}
	return t.treeText(e.Status, e.JSON), nil
}

// treeText writes a Status, an object, or else JSON.
func (t *stepText) treeText(code int, tree any) string {
	if text, ok := statusText(code, tree); ok {
		return text
	}
	if object, ok := tree.(map[string]any); ok {
		if text, ok := t.objectText(object); ok {
			return text
		}
	}
	return compact(t.shorten(tree))
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

func (t *stepText) listText(tree any) (string, []string, bool) {
	list, _ := tree.(map[string]any)
	items, ok := list["items"].([]any)
	if !ok || list["kind"] != t.kind+"List" {
		return "", nil, false
	}
	head := newList(t.memory, metaString(list, "resourceVersion"))
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
		line := "  " + t.itemText(item)
		if last := len(lines) - 1; last >= 0 && refsForm.MatchString(line[2:]) && refsForm.MatchString(lines[last][2:]) {
			lines[last] += line[1:]
			continue
		}
		lines = append(lines, line)
	}
	return text, lines, true
}

func (t *stepText) itemText(item any) string {
	object, ok := item.(map[string]any)
	if ok && object["kind"] == nil && object["apiVersion"] == nil {
		if text, ok := t.objectText(withType(object, t.version, t.kind)); ok {
			return text
		}
	}
	return compact(t.shorten(item))
}

func (t *stepText) eventText(event any) string {
	node, _ := event.(map[string]any)
	code := 0
	if number, ok := pointer(node["object"], "/code"); ok {
		if n, ok := number.(json.Number); ok {
			c, _ := n.Int64()
			code = int(c)
		}
	}
	text := t.treeText(code, node["object"])
	if code > 0 && statusForm.MatchString(text) {
		text = fmt.Sprint(code, " ", text)
	}
	return fmt.Sprint(node["type"], " ", text)
}
