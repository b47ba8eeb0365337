package exchange

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/stanza"
)

// difference is one point in which two answers to a request differ.
type difference struct {
	resource, step string
	// path is "status", "Content-Type", "Warning", or a path into the body, in which [] stands for any item.
	path      string
	want, got string // as JSON
}

// compare returns the differences between recorded answers and others.
func compare(resource string, want, got []Answer) []difference {
	c := &comparison{resource: resource}
	for i := range max(len(want), len(got)) {
		if i >= len(got) || i >= len(want) || want[i].Step != got[i].Step {
			c.step = "all"
			c.add("steps", fmt.Sprint(len(want)), fmt.Sprint(len(got)))
			return c.found
		}
		c.step = want[i].Step
		c.answer(want[i], got[i])
	}
	return c.found
}

type comparison struct {
	resource, step string
	found          []difference
}

func (c *comparison) add(path, want, got string) {
	d := difference{c.resource, c.step, path, want, got}
	if !slices.Contains(c.found[max(len(c.found)-50, 0):], d) {
		c.found = append(c.found, d)
	}
}

func (c *comparison) answer(want, got Answer) {
	if want.Status != got.Status {
		c.add("status", describe(want), describe(got))
		return
	}
	if want.Unsteady {
		return
	}
	if want.Type != got.Type {
		c.add("Content-Type", Text(want.Type), Text(got.Type))
		return
	}
	if !slices.Equal(want.Warning, got.Warning) {
		c.add("Warning", Text(want.Warning), Text(got.Warning))
	}
	c.value("", want.Body, got.Body)
	// Events have the objects of other answers: where they are others, their contents say nothing more.
	if w, g := types(want.Events), types(got.Events); !slices.Equal(w, g) {
		c.add("events", strings.Join(w, ", "), strings.Join(g, ", "))
		return
	}
	for i := range want.Events {
		c.value("event", want.Events[i], got.Events[i])
	}
	if want.RetryAfter != got.RetryAfter {
		c.add("Retry-After", Text(want.RetryAfter), Text(got.RetryAfter))
	}
	if len(want.Calls) != len(got.Calls) {
		c.add("calls", callers(want.Calls), callers(got.Calls))
		return
	}
	for i := range want.Calls {
		c.value("call", want.Calls[i], got.Calls[i])
	}
}

// describe returns the status of an answer, with its message if it is an error.
func describe(a Answer) string {
	message := TextAt(a.Body, "message")
	return strings.TrimSpace(fmt.Sprintf("%d %s", a.Status, message))
}

// callers returns the paths of the webhooks that were called.
func callers(calls []any) string {
	var out []string
	for _, call := range calls {
		out = append(out, TextAt(call, "path"))
	}
	return strings.Join(out, ", ")
}

// types returns the types of events, and the names of their objects.
func types(events []any) []string {
	var out []string
	for _, e := range events {
		out = append(out, TextAt(e, "type")+" "+TextAt(e, "object", "metadata", "name"))
	}
	return out
}

func (c *comparison) value(path string, want, got any) {
	switch want := want.(type) {
	case Object:
		if got, ok := got.(Object); ok {
			c.object(path, want, got)
			return
		}
	case []any:
		if got, ok := got.([]any); ok {
			c.list(path, want, got)
			return
		}
	}
	if w, g := Text(want), Text(got); w != g && agoForm.ReplaceAllString(w, "") != agoForm.ReplaceAllString(g, "") {
		c.add(path, w, g)
	}
}

// agoForm matches the time since a restart in a cell of a table. It has grown since the recording.
var agoForm = regexp.MustCompile(`\((\d+[smhdy])+ ago\)`)

func (c *comparison) object(path string, want, got Object) {
	var both []string
	for _, m := range want {
		where := strings.TrimPrefix(path+"."+m.Key, ".")
		if !got.Has(m.Key) {
			c.add(where, Text(m.Value), "absent")
			continue
		}
		both = append(both, m.Key)
		c.value(where, m.Value, got.Get(m.Key))
	}
	var order []string
	for _, m := range got {
		if !want.Has(m.Key) {
			c.add(strings.TrimPrefix(path+"."+m.Key, "."), "absent", Text(m.Value))
			continue
		}
		order = append(order, m.Key)
	}
	if !slices.Equal(both, order) {
		c.add(path+" (order)", strings.Join(both, " "), strings.Join(order, " "))
	}
}

// list compares items by their index, and entries of managedFields by their manager.
func (c *comparison) list(path string, want, got []any) {
	if strings.HasSuffix(path, "managedFields") {
		c.managers(path, want, got)
		return
	}
	if len(want) != len(got) {
		c.add(path, Text(want), Text(got))
		return
	}
	for i := range want {
		c.value(path+"[]", want[i], got[i])
	}
}

func (c *comparison) managers(path string, want, got []any) {
	id := func(entry any) string {
		return strings.TrimSpace(TextAt(entry, "operation") + " " + TextAt(entry, "manager") + " " + TextAt(entry, "subresource"))
	}
	ids := func(list []any) (all []string) {
		for _, e := range list {
			all = append(all, id(e))
		}
		return all
	}
	w, g := ids(want), ids(got)
	if slices.Equal(w, g) { // a manager has an entry for each version that it wrote in
		for i := range want {
			c.value(path+"[]", want[i], got[i])
		}
		return
	}
	c.add(path, Text(w), Text(g))
	for _, w := range want {
		for _, g := range got {
			if id(w) == id(g) {
				c.value(path+"[]", w, g)
			}
		}
	}
}

// reason explains a kind of difference.
type reason struct {
	line   int // in the file
	why    string
	needed bool // some difference was explained by it

	resources, steps, path, want, got *regexp.Regexp
}

// reasons is the list of reasons.txt, which explains its format.
type reasons []*reason

// explain returns the first reason for a difference, or nil.
func (r reasons) explain(d difference) *reason {
	for _, reason := range r {
		if reason.resources.MatchString(d.resource) && reason.steps.MatchString(d.step) && reason.path.MatchString(d.path) &&
			reason.want.MatchString(d.want) && reason.got.MatchString(d.got) {
			reason.needed = true
			return reason
		}
	}
	return nil
}

// parseReasons reads the format of reasons.txt. A stanza has a why; each other member matches all if it is missing.
func parseReasons(data string) (reasons, error) {
	stanzas, err := stanza.Parse("reasons.txt", data, []string{"why"}, []string{"resources", "steps", "path", "want", "got"})
	if err != nil {
		return nil, err
	}
	var list reasons
	for _, s := range stanzas {
		matching := func(member string) *regexp.Regexp {
			return stanza.Wildcards(strings.Split(cmp.Or(s.Members[member], "*"), " | ")...)
		}
		list = append(list, &reason{
			line: s.Line, why: s.Members["why"],
			resources: matching("resources"), steps: matching("steps"), path: matching("path"), want: matching("want"), got: matching("got"),
		})
	}
	return list, nil
}
