package exchange

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Normalizer replaces what differs between two correct runs. Its symbols are local, so that one difference causes no others:
// the resourceVersion of an object is compared with the last resourceVersion of the same object, and with nothing else.
type Normalizer struct {
	// AnyOrder sorts the causes of errors, and leaves out the messages that join them, as the causes of a schema have no fixed order.
	AnyOrder bool

	id       string
	now      time.Time
	versions map[string]string // last resourceVersion by object
	forms    []form
}

// form is a text that a server makes, and its symbol.
type form struct {
	pattern *regexp.Regexp
	symbol  string
}

// NewNormalizer returns the Normalizer of the run with an id.
func NewNormalizer(id string) *Normalizer {
	return &Normalizer{id: id, now: time.Now(), versions: map[string]string{}, forms: []form{
		// An object in a text has its managedFields in the order of the seconds in which they were written.
		{regexp.MustCompile(`(?s)"\{\\".*managedFields.*\}"`), `"{object}"`},
		{regexp.MustCompile(`(resourceVersion[\\": ]+)\d+`), "$1{version}"},
		{regexp.MustCompile(`revision=\d+`), "revision={version}"},
		{regexp.MustCompile(`\b10\.0\.0\.(1[6-9]|[2-9]\d|\d{3})\b`), "{ip}"}, // the part of the range that a server gives first,
		{regexp.MustCompile(`:3[0-2]\d{3}/(TCP|UDP|SCTP)`), ":{port}/$1"},
		{regexp.MustCompile(`(gen-` + RunID + `-)[a-z0-9]{5}\b`), "$1{suffix}"},
	}}
}

// RunID stands for the id of a run in requests and recorded answers. An id is a letter, a digit, a letter and a digit, of hexadecimal digits.
const RunID = "RUNID"

const fixedUID = "00000000-0000-4000-8000-000000000001"

var (
	uidForm  = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b`)
	timeForm = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	ageForm  = regexp.MustCompile(`^(\d+[smhdy])+$`)
)

func (n *Normalizer) Text(s string) string {
	// An id of a run may stand in a uid.
	s = uidForm.ReplaceAllString(strings.ReplaceAll(s, fixedUID, "{fixed}"), "{uid}")
	s = strings.ReplaceAll(s, n.id, RunID)
	s = timeForm.ReplaceAllStringFunc(s, func(t string) string {
		if at, err := time.Parse(time.RFC3339Nano, t); err == nil && at.Sub(n.now).Abs() < 24*time.Hour {
			return "{time}"
		}
		return t
	})
	for _, f := range n.forms {
		s = f.pattern.ReplaceAllString(s, f.symbol)
	}
	return s
}

// Body returns a normalised copy of the tree of an answer.
func (n *Normalizer) Body(tree any) any { return n.value("", tree) }

func (n *Normalizer) value(key string, tree any) any {
	switch node := tree.(type) {
	case Object:
		return n.object(key, node)
	case []any:
		out := make([]any, len(node))
		for i := range node {
			out[i] = n.value(key, node[i])
		}
		switch key {
		case "managedFields":
			sortBy(out, "operation", "manager", "subresource", "apiVersion")
		case "causes":
			if n.AnyOrder {
				sortBy(out, "field", "message")
			}
			sortConflicts(out)
		}
		return out
	case string:
		if key == "continue" && node != "" {
			return "{continue}"
		}
		if key == "cells" && ageForm.MatchString(node) {
			return "{age}"
		}
		return n.Text(node)
	case json.Number:
		if port, err := node.Int64(); err == nil && port >= 30086 && port < 32768 && (key == "nodePort" || key == "healthCheckNodePort") {
			return "{port}"
		}
	}
	return tree
}

func (n *Normalizer) object(key string, node Object) any {
	out := make(Object, len(node))
	for i, m := range node {
		if s, ok := m.Value.(string); ok && m.Key == "resourceVersion" {
			out[i] = Member{m.Key, n.version(key, node, s)}
			continue
		}
		if causes, _ := At(node, "details", "causes").([]any); n.AnyOrder && len(causes) > 1 && m.Key == "message" {
			out[i] = Member{m.Key, "{causes}"}
			continue
		}
		out[i] = Member{n.Text(m.Key), n.value(m.Key, m.Value)}
	}
	return out
}

// version returns whether an object has another version than when it was seen last. Metadata of lists has no uid.
func (n *Normalizer) version(key string, meta Object, version string) string {
	uid := TextAt(meta, "uid")
	if uid == "" || key != "metadata" {
		return "{version}"
	}
	last := n.versions[uid]
	n.versions[uid] = version
	if last == version {
		return "{same version}"
	}
	return "{new version}"
}

// sortBy sorts entries whose order depends on the second in which they were written.
func sortBy(list []any, keys ...string) {
	slices.SortStableFunc(list, func(a, b any) int {
		for _, key := range keys {
			if c := cmp.Compare(TextAt(a, key), TextAt(b, key)); c != 0 {
				return c
			}
		}
		return 0
	})
}

// sortConflicts puts the conflicts of an apply in a fixed order: a server finds them by walking managers in no particular one.
func sortConflicts(causes []any) {
	for _, c := range causes {
		if TextAt(c, "reason") != "FieldManagerConflict" {
			return
		}
	}
	sortBy(causes, "message", "field")
}

// Event returns the normalised form of an event. Versions are not compared, since each event has a new one.
func (n *Normalizer) Event(tree any) any {
	fresh := *n
	fresh.versions = map[string]string{}
	return fresh.Body(tree)
}

// Replace adds a text that a server makes, and its symbol, in which $1 stands for the first group.
func (n *Normalizer) Replace(pattern *regexp.Regexp, symbol string) {
	n.forms = append(n.forms, form{pattern, symbol})
}
