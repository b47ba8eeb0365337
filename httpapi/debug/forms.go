package debug

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/meta"
)

// form is a form of the page as it was sent. Errors has the mistake of each field by its name; "" is about all of it.
type form struct {
	Values, Errors map[string]string
}

// action is an effect that the form of a fault offers.
type action struct {
	Name, Text string
	// Value describes the value that it takes; "" if it takes none.
	Value string

	set func(f *faultJSON, value string) error // or nil
}

func actions() []action {
	return []action{
		{"answer", "answer with a code", "a code, such as 409", func(f *faultJSON, value string) (err error) {
			f.Answer.Code, err = number[int32](value)
			return err
		}},
		{"delay", "delay", `a duration, such as "1.5s"`, func(f *faultJSON, value string) (err error) {
			f.Delay, err = duration(value)
			return err
		}},
		{"slowEvents", "send watch events late", `a duration, such as "1.5s"`, func(f *faultJSON, value string) (err error) {
			f.SlowEvents, err = duration(value)
			return err
		}},
		{"endWatch", "end watches after some events", "a number of events", func(f *faultJSON, value string) (err error) {
			f.Tear = &tearJSON{}
			f.Tear.After, err = number[int](value)
			return err
		}},
		{"hang", "never answer", "", func(f *faultJSON, _ string) error { f.Hang = true; return nil }},
		{"cutBefore", "cut the connection before the request is done", "", func(f *faultJSON, _ string) error { f.Cut = "before"; return nil }},
		{"cutAfter", "do the request, and cut the connection", "", func(f *faultJSON, _ string) error { f.Cut = "after"; return nil }},
		{"crashBefore", "crash the client before the request is done: it is cut off", "", func(f *faultJSON, _ string) error { f.Crash = "before"; return nil }},
		{"crashAfter", "do the request, and crash the client", "", func(f *faultJSON, _ string) error { f.Crash = "after"; return nil }},
		{"silent", "partition: requests and open watches hang", "", func(f *faultJSON, _ string) error { f.Partition = "silent"; return nil }},
		{"refused", "partition: requests and open watches are cut", "", func(f *faultJSON, _ string) error { f.Partition = "refused"; return nil }},
		{"expireHistory", "expire the history", "", func(f *faultJSON, _ string) error { f.ExpireHistory = true; return nil }},
	}
}

// verbs returns the verbs that a fault can match.
func verbs() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "apply", "delete", "deletecollection"}
}

func number[N int | int32](text string) (N, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("got %q, want a whole number", text)
	}
	return N(n), nil
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf(`got %q, want a duration such as "1.5s" or "10m"`, text)
	}
	return d, nil
}

// submit does what a form of the page says. After a mistake nothing has changed, and the page shows the form as it was sent,
// with the error beside the field.
func (c control) submit(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		return bad(fmt.Errorf("form: %w", err))
	}
	sent := form{map[string]string{}, map[string]string{}}
	for name := range r.PostForm {
		sent.Values[name] = strings.TrimSpace(r.PostForm.Get(name))
	}
	do := map[string]func(context.Context, form) error{"fault": c.faultForm, "remove": c.removeForm, "clock": c.clockForm, "fork": c.forkForm, "reset": c.resetForm}[sent.Values["do"]]
	if do == nil {
		return problem(http.StatusUnsupportedMediaType, meta.ReasonUnsupportedMediaType, errors.New("got no form of the page: the operations are below /debug/"))
	}
	if err := do(r.Context(), sent); err != nil {
		sent.Errors[""] = err.Error()
	}
	if len(sent.Errors) > 0 {
		return c.writeOverview(w, r, http.StatusUnprocessableEntity, sent)
	}
	w.Header().Set("Location", "./"+filterQuery(r.URL.Query().Get("filter"))) // relative: a fork does not know its whole path
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// mostForm limits a form in bytes.
const mostForm = 64 << 10

// faultForm activates a fault.
func (c control) faultForm(_ context.Context, f form) error {
	fault := faultJSON{Match: apitest.Match{
		Verb: f.Values["verb"], Resource: f.Values["resource"], Namespace: f.Values["namespace"], Name: f.Values["name"], UserAgent: f.Values["userAgent"],
	}}
	var err error
	if first := f.Values["first"]; first != "" {
		if fault.First, err = number[int](first); err == nil && fault.First < 1 {
			err = fmt.Errorf("got %d, want 1 or more", fault.First)
		}
		if err != nil {
			f.Errors["first"] = err.Error()
		}
	}
	f.setAction(&fault)
	if len(f.Errors) > 0 {
		return nil
	}
	if _, err := c.place(fault); err != nil {
		f.locate(err)
	}
	return nil
}

// setAction sets the effect of a fault, or the errors of the form.
func (f form) setAction(fault *faultJSON) {
	value := f.Values["value"]
	for _, a := range actions() {
		switch {
		case a.Name != f.Values["action"]:
			continue
		case a.Value == "" && value != "":
			f.Errors["value"] = fmt.Sprintf("got %q, want nothing: this fault takes no value", value)
		default:
			if err := a.set(fault, value); err != nil {
				f.Errors["value"] = err.Error() + ": " + a.Value
			}
		}
		return
	}
	f.Errors["action"] = fmt.Sprintf("got %q, want a fault of the list", f.Values["action"])
}

// fieldOf finds the field that an error of a fault begins with.
var fieldOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[Ff]ault: )*([a-zA-Z]+)[.a-zA-Z]*: `) })

// locate puts an error of a fault beside its field.
func (f form) locate(err error) {
	text := err.Error()
	field, rest := "", text
	if m := fieldOf().FindStringSubmatch(text); m != nil {
		field, rest = m[1], text[len(m[0]):]
	}
	switch field {
	case "verb", "resource", "namespace", "name", "userAgent", "first":
	case "answer", "code", "delay", "slowEvents", "tear":
		field = "value"
	default:
		field, rest = "action", text
	}
	f.Errors[field] = rest
}

// removeForm removes a fault. One that is gone already is no mistake.
func (c control) removeForm(_ context.Context, f form) error {
	for _, active := range c.api.Faults() {
		if strconv.Itoa(c.faults.get(active).id) == f.Values["id"] {
			c.faults.remove(active)
		}
	}
	return nil
}

// clockForm moves the clock.
func (c control) clockForm(ctx context.Context, f form) error {
	d, err := parseForward(f.Values["forward"])
	if err != nil {
		f.Errors["forward"] = err.Error()
		return nil
	}
	if err := c.forward(ctx, d); err != nil {
		f.Errors["forward"] = err.Error()
	}
	return nil
}

// forkForm forks the server.
func (c control) forkForm(_ context.Context, f form) error {
	if _, err := c.srv.add(c.fork, f.Values["fork"]); err != nil {
		f.Errors["fork"] = strings.TrimPrefix(err.Error(), "name: ")
	}
	return nil
}

// resetForm takes the server or the fork back to its first state.
func (c control) resetForm(context.Context, form) error { return c.fork.reset(c.start) }
