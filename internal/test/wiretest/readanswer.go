package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// answer reads the part after the status: nothing, text, a list, a Status, an object or JSON.
func (t *stepText) answer(text string) (err error) {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "" || text == "text": // or lines follow
		return nil
	case word == "text":
		t.expect.Text, err = readText(rest)
	case word == "list":
		t.expect.JSON, err = t.list(rest)
	default:
		t.expect.JSON, err = t.tree(t.expect.Status, text)
	}
	return err
}

// tree reads a Status of a code, an object or JSON.
func (t *stepText) tree(code int, text string) (any, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case word == "Success" || statusForm.MatchString(text):
		return t.status(code, word, rest)
	case baseForm.MatchString(text):
		return t.readObject(text)
	}
	tree, err := decodeJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("want a Status, an object or JSON: %w", err)
	}
	return t.lengthen(tree)
}

func (t *stepText) status(code int, reason, rest string) (any, error) {
	var message, details any
	decoder := json.NewDecoder(strings.NewReader(rest))
	decoder.UseNumber()
	if reason != "Success" {
		if err := decoder.Decode(&message); err != nil {
			return nil, err
		}
	}
	if decoder.More() {
		if err := decoder.Decode(&details); err != nil {
			return nil, err
		}
	}
	return newStatus(code, reason, message, details), nil
}

// newStatus returns a Status. The reason "Success" makes one of success, and "-" one without a reason.
func newStatus(code int, reason string, message, details any) map[string]any {
	s := map[string]any{"apiVersion": "v1", "kind": "Status", "metadata": map[string]any{}, "status": "Success"}
	if details != nil {
		s["details"] = details
	}
	if reason == "Success" {
		return s
	}
	s["status"], s["code"], s["message"] = "Failure", json.Number(strconv.Itoa(code)), message
	if reason != "-" {
		s["reason"] = reason
	}
	return s
}

// list reads the head of a list. Its items follow, one on each line.
func (t *stepText) list(text string) (any, error) {
	version, patch, _ := strings.Cut(text, " + ")
	head := newList(t.memory, version)
	if patch != "" {
		tree, err := decodeJSON([]byte(patch))
		if err != nil {
			return nil, err
		}
		head = merge(head, tree).(map[string]any)
	}
	head["items"] = []any{}
	return head, nil
}

func newList(m *memory, version string) map[string]any {
	return map[string]any{"apiVersion": m.version, "kind": m.kind + "List", "metadata": map[string]any{"resourceVersion": version}}
}

// item reads items of a list: references, or one object, which in a list has no type of its own.
func (t *stepText) item(line string) error {
	list, _ := t.expect.JSON.(map[string]any)
	items, ok := list["items"].([]any)
	if !ok {
		return errors.New("want an answer, a header, or an option of the request")
	}
	expressions := []string{line}
	if refsForm.MatchString(line) {
		expressions = strings.Fields(line)
	}
	for _, text := range expressions {
		tree, err := t.tree(0, text)
		if err != nil {
			return err
		}
		if object, ok := tree.(map[string]any); ok && baseForm.MatchString(text) {
			delete(object, "apiVersion")
			delete(object, "kind")
		}
		items = append(items, tree)
	}
	list["items"] = items
	return nil
}

// event reads an event: its type, and an object, JSON, or a code and a Status.
func (t *stepText) event(line string) error {
	parts := eventForm.FindStringSubmatch(line)
	if parts == nil {
		return errors.New("want an event, such as ADDED @rv1")
	}
	code := 0
	text := parts[2]
	if word, rest, _ := strings.Cut(text, " "); len(word) == 3 && word[0] >= '0' && word[0] <= '9' {
		code, _ = strconv.Atoi(word)
		text = rest
	}
	object, err := t.tree(code, text)
	if err != nil {
		return err
	}
	t.expect.Events = append(t.expect.Events, map[string]any{"type": parts[1], "object": object})
	t.see(object)
	return nil
}

// addHeaders adds the usual headers. An answer may name another Content-Type, or - for none. Its warnings follow the usual
// one.
func (t *stepText) addHeaders() {
	for name, values := range t.usualHeaders(t.step, t.expect) {
		named := t.expect.Headers[name]
		if slices.Contains(t.noHeader, name) || len(named) > 0 && name != "Warning" {
			continue
		}
		if t.expect.Headers == nil {
			t.expect.Headers = map[string][]string{}
		}
		t.expect.Headers[name] = slices.Concat(values, named)
	}
}

func (t *stepText) usualHeaders(s Step, e Expected) map[string][]string {
	usual := map[string][]string{}
	if e.Status == 0 {
		return usual
	}
	usual["Content-Type"] = []string{jsonType}
	if e.Protobuf {
		usual["Content-Type"] = []string{protobufType}
	}
	if t.warning != "" && strings.Contains(s.Path, t.resource) && e.Status != http.StatusMethodNotAllowed {
		usual["Warning"] = []string{t.warning}
	}
	return usual
}
