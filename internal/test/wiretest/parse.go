package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	requestForm = regexp.MustCompile(`^(?:(\w+) = )?([A-Z]+) (\S+)(?: (.*))?$`)
	answerForm  = regexp.MustCompile(`^(\d{3})( indented)?( protobuf)?(?: (.*))?$`)
	headerForm  = regexp.MustCompile(`^([A-Z][A-Za-z-]+): (.*)$`)
	eventForm   = regexp.MustCompile(`^([A-Z]+) (.*)$`)
	statusForm  = regexp.MustCompile(`^(-|[A-Z][A-Za-z]+) "`)
	refsForm    = regexp.MustCompile(`^@rv\d+(?: @rv\d+)*$`)
)

// patchTypes are the words for the media types of patches.
var patchTypes = map[string]string{
	"merge":      "application/merge-patch+json",
	"strategic":  "application/strategic-merge-patch+json",
	"json-patch": "application/json-patch+json",
	"apply":      "application/apply-patch+yaml",
}

// stepReader reads the lines of one step, which the texts of a kind stand in.
type stepReader struct {
	*memory
	warning  string // sent with answers about the kind
	resource string // of the kind, with a slash before it
	step     Step
	expect   Expected
	answered bool
	noHeader []string // names of headers that the answer says it lacks
}

func (r *stepReader) read(lines []string) error {
	if err := r.request(strings.TrimSpace(lines[0])); err != nil {
		return err
	}
	for _, line := range lines[1:] {
		if err := r.detail(strings.TrimSpace(line)); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
	}
	r.addHeaders()
	r.see(r.expect.JSON)
	return nil
}

func (r *stepReader) request(line string) error {
	words := strings.Fields(line)
	switch {
	case words[0] == "close" && len(words) == 2:
		r.step.Close = words[1]
		return nil
	case words[0] == "collect" && len(words) > 2:
		return r.collect(words[1], words[2:])
	}
	parts := requestForm.FindStringSubmatch(line)
	if parts == nil {
		return errors.New("want a request, collect or close")
	}
	r.step.Open, r.step.Method = parts[1], parts[2]
	if err := r.target(parts[3]); err != nil {
		return err
	}
	return r.body(parts[4])
}

func (r *stepReader) collect(stream string, words []string) error {
	c := Collect{Stream: stream}
	for _, word := range words {
		var err error
		switch name, value, _ := strings.Cut(word, "="); name {
		case "closed":
			c.UntilClosed = true
		case "sorted":
			c.SortByName = true
		case "timeout":
			c.TimeoutMs, err = strconv.Atoi(strings.TrimSuffix(value, "ms"))
		default:
			c.Events, err = strconv.Atoi(word)
		}
		if err != nil {
			return err
		}
	}
	r.step.Collect = &c
	return nil
}

// target reads a path, and a query after ? that is to be encoded, or after ?? one that is sent as written.
func (r *stepReader) target(text string) error {
	path, query, _ := strings.Cut(text, "?")
	r.step.Path = path
	if raw, ok := strings.CutPrefix(query, "?"); ok {
		r.step.RawQuery = raw
		return nil
	}
	if query == "" {
		return nil
	}
	r.step.Query = map[string]string{}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if _, twice := r.step.Query[name]; twice {
			return fmt.Errorf("parameter %s stands twice; write ?? before a query that is sent as written", name)
		}
		var err error
		if r.step.Query[name], err = url.QueryUnescape(value); err != nil {
			return err
		}
	}
	return nil
}

func (r *stepReader) body(text string) (err error) {
	word, rest, _ := strings.Cut(text, " ")
	if mediaType, ok := patchTypes[word]; ok {
		r.step.Headers = map[string]string{"Content-Type": mediaType}
		text = rest
	}
	word, rest, _ = strings.Cut(text, " ")
	switch {
	case text == "":
		return nil
	case word == "text" && rest == "":
		return nil // lines follow
	case word == "text":
		r.step.BodyText, err = readText(rest)
		r.sent = r.step.sentTree()
		return err
	case word == "repeat":
		r.step.BodyRepeat = &Repeat{}
		return json.Unmarshal([]byte(rest), r.step.BodyRepeat)
	}
	to := &r.step.Body
	if word == "protobuf" {
		to, text = &r.step.BodyProtobuf, rest
	}
	*to = json.RawMessage(text)
	r.sent = r.step.sentTree()
	if !json.Valid(*to) {
		return errors.New("the body is not JSON; write text and a quoted string")
	}
	return nil
}

// readText reads a text that may be quoted.
func readText(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	var out string
	err := json.Unmarshal([]byte(text), &out)
	return out, err
}

// detail reads a line below the request.
func (r *stepReader) detail(line string) error {
	if name, value, ok := strings.Cut(line, " "); ok || line == "closed" {
		switch name {
		case "keep":
			return r.keep(value)
		case "compare":
			r.step.Compare.Body = value
			return nil
		case "ignore":
			r.step.Compare.Ignore = strings.Fields(value)
			return nil
		case "closed":
			r.expect.Closed = true
			return nil
		case "|":
			return r.textLine(value)
		}
	}
	if line == "|" {
		return r.textLine("")
	}
	if parts := headerForm.FindStringSubmatch(line); parts != nil {
		return r.header(parts[1], parts[2])
	}
	if parts := answerForm.FindStringSubmatch(line); parts != nil && !r.answered {
		r.answered = true
		r.expect.Indented, r.expect.Protobuf = parts[2] != "", parts[3] != ""
		r.expect.Status, _ = strconv.Atoi(parts[1])
		return r.answer(parts[4])
	}
	if r.step.Collect != nil {
		return r.event(line)
	}
	return r.item(line)
}

func (r *stepReader) keep(text string) error {
	name, place, _ := strings.Cut(text, " ")
	to := &r.step.Capture
	if r.step.Collect != nil {
		to = &r.step.Collect.Capture
	}
	if *to == nil {
		*to = map[string]string{}
	}
	if name == "" || !strings.HasPrefix(place, "/") {
		return errors.New("want a name and a JSON pointer")
	}
	(*to)[name] = place
	return nil
}

func (r *stepReader) textLine(text string) error {
	if r.answered {
		r.expect.Text += text + "\n"
	} else {
		r.step.BodyText += text + "\n"
	}
	return nil
}

func (r *stepReader) header(name, value string) error {
	if r.answered {
		if value == "-" {
			r.noHeader = append(r.noHeader, name)
			return nil
		}
		if r.expect.Headers == nil {
			r.expect.Headers = map[string][]string{}
		}
		r.expect.Headers[name] = append(r.expect.Headers[name], value)
		return nil
	}
	if r.step.Headers == nil {
		r.step.Headers = map[string]string{}
	}
	r.step.Headers[name] = value
	return nil
}

// addHeaders adds the usual headers. An answer that names another Content-Type, or - for any, does without the usual one;
// the warnings that it names come after the usual one.
func (r *stepReader) addHeaders() {
	for name, values := range r.usualHeaders(r.step, r.expect) {
		named := r.expect.Headers[name]
		if slices.Contains(r.noHeader, name) || len(named) > 0 && name != "Warning" {
			continue
		}
		if r.expect.Headers == nil {
			r.expect.Headers = map[string][]string{}
		}
		r.expect.Headers[name] = slices.Concat(values, named)
	}
}

func (r *stepReader) usualHeaders(s Step, e Expected) map[string][]string {
	usual := map[string][]string{}
	if e.Status == 0 {
		return usual
	}
	usual["Content-Type"] = []string{jsonType}
	if e.Protobuf {
		usual["Content-Type"] = []string{protobufType}
	}
	if r.warning != "" && strings.Contains(s.Path, r.resource) && e.Status != http.StatusMethodNotAllowed {
		usual["Warning"] = []string{r.warning}
	}
	return usual
}

// answer reads what follows the status: nothing, text, a list, a Status, an object or JSON.
func (r *stepReader) answer(text string) (err error) {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "" || text == "text": // or lines follow
		return nil
	case word == "text":
		r.expect.Text, err = readText(rest)
	case word == "list":
		r.expect.JSON, err = r.list(rest)
	default:
		r.expect.JSON, err = r.tree(r.expect.Status, text)
	}
	return err
}

// tree reads a Status of a code, an object or JSON.
func (r *stepReader) tree(code int, text string) (any, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case word == "Success" || statusForm.MatchString(text):
		return r.status(code, word, rest)
	case baseForm.MatchString(text):
		return r.readObject(text)
	}
	tree, err := decodeJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("want a Status, an object or JSON: %w", err)
	}
	return r.lengthen(tree)
}

func (r *stepReader) status(code int, reason, rest string) (any, error) {
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

// list reads the head of a list, whose items follow on lines of their own.
func (r *stepReader) list(text string) (any, error) {
	version, patch, _ := strings.Cut(text, " + ")
	head := newList(r.memory, version)
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
func (r *stepReader) item(line string) error {
	list, _ := r.expect.JSON.(map[string]any)
	items, ok := list["items"].([]any)
	if !ok {
		return errors.New("want an answer, a header, or an option of the request")
	}
	expressions := []string{line}
	if refsForm.MatchString(line) {
		expressions = strings.Fields(line)
	}
	for _, text := range expressions {
		tree, err := r.tree(0, text)
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
func (r *stepReader) event(line string) error {
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
	object, err := r.tree(code, text)
	if err != nil {
		return err
	}
	r.expect.Events = append(r.expect.Events, map[string]any{"type": parts[1], "object": object})
	r.see(object)
	return nil
}
