package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
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

// patchTypes returns the words for the media types of patches.
func patchTypes() map[string]string {
	return map[string]string{
		"merge":      "application/merge-patch+json",
		"strategic":  "application/strategic-merge-patch+json",
		"json-patch": "application/json-patch+json",
		"apply":      "application/apply-patch+yaml",
	}
}

// stepText reads or writes the lines of one step.
type stepText struct {
	*memory
	warning  string // sent with answers about the kind
	resource string // of the kind, with a slash before it
	step     Step
	expect   Expected
	answered bool
	noHeader []string // names of headers that the answer says it lacks
}

func newStepText(m *memory, k *kind) *stepText {
	m.sent = nil
	return &stepText{memory: m, warning: k.text["$warning"], resource: "/" + k.text["$plural"]}
}

// read reads the request and below it its options and the answer.
func (t *stepText) read(lines []string) error {
	if err := t.request(strings.TrimSpace(lines[0])); err != nil {
		return err
	}
	for _, line := range lines[1:] {
		if err := t.detail(strings.TrimSpace(line)); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
	}
	t.addHeaders()
	t.see(t.expect.JSON)
	return nil
}

func (t *stepText) request(line string) error {
	words := strings.Fields(line)
	switch {
	case words[0] == "close" && len(words) == 2:
		t.step.Close = words[1]
		return nil
	case words[0] == "collect" && len(words) > 2:
		return t.collect(words[1], words[2:])
	}
	parts := requestForm.FindStringSubmatch(line)
	if parts == nil {
		return errors.New("want a request, collect or close")
	}
	t.step.Open, t.step.Method = parts[1], parts[2]
	if err := t.target(parts[3]); err != nil {
		return err
	}
	return t.body(parts[4])
}

func (t *stepText) collect(stream string, words []string) error {
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
	t.step.Collect = &c
	return nil
}

// target reads a path and a query. A query after ? will be encoded, a query after ?? is sent as written.
func (t *stepText) target(text string) error {
	path, query, _ := strings.Cut(text, "?")
	t.step.Path = path
	if raw, ok := strings.CutPrefix(query, "?"); ok {
		t.step.RawQuery = raw
		return nil
	}
	if query == "" {
		return nil
	}
	t.step.Query = map[string]string{}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if _, twice := t.step.Query[name]; twice {
			return fmt.Errorf("parameter %s stands twice; write ?? before a query that is sent as written", name)
		}
		var err error
		if t.step.Query[name], err = url.QueryUnescape(value); err != nil {
			return err
		}
	}
	return nil
}

func (t *stepText) body(text string) (err error) {
	word, rest, _ := strings.Cut(text, " ")
	if mediaType, ok := patchTypes()[word]; ok {
		t.step.Headers = map[string]string{"Content-Type": mediaType}
		text = rest
	}
	word, rest, _ = strings.Cut(text, " ")
	switch {
	case text == "":
		return nil
	case word == "text" && rest == "":
		return nil // lines follow
	case word == "text":
		t.step.BodyText, err = readText(rest)
		t.sent = t.step.sentTree()
		return err
	case word == "repeat":
		t.step.BodyRepeat = &Repeat{}
		return json.Unmarshal([]byte(rest), t.step.BodyRepeat)
	}
	to := &t.step.Body
	if word == "protobuf" {
		to, text = &t.step.BodyProtobuf, rest
	}
	*to = json.RawMessage(text)
	t.sent = t.step.sentTree()
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
func (t *stepText) detail(line string) error {
	if name, value, ok := strings.Cut(line, " "); ok || line == "closed" {
		switch name {
		case "keep":
			return t.keep(value)
		case "compare":
			t.step.Compare.Body = value
			return nil
		case "ignore":
			t.step.Compare.Ignore = strings.Fields(value)
			return nil
		case "closed":
			t.expect.Closed = true
			return nil
		case "|":
			return t.textLine(value)
		}
	}
	if line == "|" {
		return t.textLine("")
	}
	if parts := headerForm.FindStringSubmatch(line); parts != nil {
		return t.header(parts[1], parts[2])
	}
	if parts := answerForm.FindStringSubmatch(line); parts != nil && !t.answered {
		t.answered = true
		t.expect.Indented, t.expect.Protobuf = parts[2] != "", parts[3] != ""
		t.expect.Status, _ = strconv.Atoi(parts[1])
		return t.answer(parts[4])
	}
	if t.step.Collect != nil {
		return t.event(line)
	}
	return t.item(line)
}

func (t *stepText) keep(text string) error {
	name, place, _ := strings.Cut(text, " ")
	to := &t.step.Capture
	if t.step.Collect != nil {
		to = &t.step.Collect.Capture
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

func (t *stepText) textLine(text string) error {
	if t.answered {
		t.expect.Text += text + "\n"
	} else {
		t.step.BodyText += text + "\n"
		t.sent = t.step.sentTree()
	}
	return nil
}

func (t *stepText) header(name, value string) error {
	if t.answered {
		if value == "-" {
			t.noHeader = append(t.noHeader, name)
			return nil
		}
		if t.expect.Headers == nil {
			t.expect.Headers = map[string][]string{}
		}
		t.expect.Headers[name] = append(t.expect.Headers[name], value)
		return nil
	}
	if t.step.Headers == nil {
		t.step.Headers = map[string]string{}
	}
	t.step.Headers[name] = value
	return nil
}
