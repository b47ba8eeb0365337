package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// comparedHeaders are the headers of an answer that carry meaning.
func comparedHeaders() []string { return []string{"Content-Type", "Warning", "Retry-After"} }

// headers returns the normalised values of the compared headers, nil where there are none.
func (x *run) headers(h http.Header) map[string][]string {
	var out map[string][]string
	for _, name := range comparedHeaders() {
		for _, value := range h.Values(name) {
			if out == nil {
				out = map[string][]string{}
			}
			out[name] = append(out[name], x.norm.text(value))
		}
	}
	return out
}

// readBody sets the body of an outcome and takes the captures from it.
func (x *run) readBody(e *Expected, s Step, mediaType string, data []byte) error {
	if s.Compare.Body == "none" && len(s.Capture) == 0 {
		return nil
	}
	tree, err := x.decodeBody(e, s, mediaType, data)
	if err != nil {
		return err
	}
	if tree == nil {
		if slices.ContainsFunc(slices.Collect(maps.Keys(s.Capture)), isNeeded) {
			return fmt.Errorf("nothing to capture from (status %d, body %s)", e.Status, short(data))
		}
		return nil
	}
	if err := x.capture(s.Capture, tree); err != nil {
		return fmt.Errorf("%w (status %d, body %s)", err, e.Status, short(data))
	}
	if s.Compare.Body != "none" {
		e.JSON = x.norm.value(tree)
	}
	return nil
}

// decodeBody returns the tree of the body. If it has none, the body becomes text and the tree is nil.
func (x *run) decodeBody(e *Expected, s Step, mediaType string, data []byte) (any, error) {
	switch {
	case s.Compare.Body == "text":
		e.Text = x.norm.text(string(data))
		return nil, nil
	case strings.HasPrefix(mediaType, protobufType):
		e.Protobuf = true
		return decodeProtobuf(data)
	case strings.Contains(mediaType, "json"):
		e.Indented = bytes.Contains(data, []byte("\n  "))
		tree, err := decodeJSON(data)
		if err != nil {
			e.Text = x.norm.text(string(data))
		}
		return tree, nil
	}
	e.Text = x.norm.text(string(data))
	return nil, nil
}

// decodeJSON reads the first value of data and keeps its numbers as they are written.
func decodeJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	err := decoder.Decode(&tree)
	return tree, err
}

// isNeeded reports whether a name must have a value. The value of a name with a question mark may be missing.
func isNeeded(name string) bool { return !strings.HasSuffix(name, "?") }

// capture remembers the values at the pointers under their names.
func (x *run) capture(pointers map[string]string, tree any) error {
	for _, name := range slices.Sorted(maps.Keys(pointers)) {
		value, ok := pointer(tree, pointers[name])
		if !ok && !isNeeded(name) {
			continue
		}
		if !ok {
			return fmt.Errorf("nothing at %s", pointers[name])
		}
		text, isString := value.(string)
		if !isString {
			b, err := json.Marshal(value)
			if err != nil {
				return err
			}
			text = string(b)
		}
		x.vars[name] = text
	}
	return nil
}

// short returns the head of a body, for reports.
func short(b []byte) string { return string(b[:min(len(b), 300)]) }
