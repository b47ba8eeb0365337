package apitest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// verbs returns the values of Fault.Verb.
func verbs() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "apply", "delete", "deletecollection"}
}

// validate returns an error that names the field and the expected value if the fault
// contradicts itself or has no effect.
func (f *Fault) validate() error {
	switch {
	case f.Verb != "" && !slices.Contains(verbs(), f.Verb):
		return problem("Verb", "got %q, want one of %s", f.Verb, strings.Join(verbs(), ", "))
	case f.Name != "" && (f.Verb == "list" || f.Verb == "deletecollection"):
		return problem("Name", "got %q, want none: %s has no name", f.Name, f.Verb)
	case f.Subresource != "" && f.Subresource != "status":
		return problem("Subresource", "got %q, want \"status\" or none", f.Subresource)
	case f.Subresource != "" && f.Verb != "" && !slices.Contains([]string{"get", "update", "patch", "apply"}, f.Verb):
		return problem("Verb", "got %q with Subresource, want get, update, patch, apply or none", f.Verb)
	case f.First < 0:
		return problem("First", "got %d, want 0 or more", f.First)
	}
	return f.validateActions()
}

func (f *Fault) validateActions() error {
	ends := f.ends()
	onWatch := f.Tear != nil || f.SlowEvents > 0
	switch {
	case f.Delay < 0:
		return problem("Delay", "got %v, want 0 or more", f.Delay)
	case f.SlowEvents < 0:
		return problem("SlowEvents", "got %v, want 0 or more", f.SlowEvents)
	case f.Adversary != nil:
		return f.validateAdversary()
	case len(ends) > 1:
		return fmt.Errorf("%s: got %d of them, want one: each ends the request", strings.Join(ends, ", "), len(ends))
	case len(ends) == 1 && onWatch:
		return problem(ends[0], "got it with Tear or SlowEvents, want one or the other: no watch starts")
	case len(f.actions()) == 0 && f.Answer.Message == "" && f.Answer.Reason == "":
		return errors.New("got no action, want one of Delay, ExpireHistory, Answer, Hang, Cut, Partition, Tear, SlowEvents, Stale, Adversary")
	case f.Cut != "" && f.Cut != CutBefore && f.Cut != CutAfter:
		return problem("Cut", "got %q, want %q or %q", f.Cut, CutBefore, CutAfter)
	case f.Cut == CutAfter && f.Verb == "watch":
		return problem("Cut", "got \"after\" for watch, want Tear: a watch commits nothing")
	case f.Partition != "" && f.Partition != Silent && f.Partition != Refused:
		return problem("Partition", "got %q, want %q or %q", f.Partition, Silent, Refused)
	case f.Partition != "" && (f.First > 0 || f.Delay > 0 || f.ExpireHistory):
		return problem("Partition", "got it with First, Delay or ExpireHistory, want it alone: it lasts until Remove")
	case onWatch && f.Verb != "" && f.Verb != "watch":
		return problem("Verb", "got %q with Tear or SlowEvents, want \"watch\" or none", f.Verb)
	}
	if err := f.validateTear(); err != nil {
		return err
	}
	if f.Stale != nil {
		if err := f.validateStale(ends); err != nil {
			return err
		}
	}
	return validateStatus("Answer", f.Answer, 200)
}

func (f *Fault) validateTear() error {
	switch t := f.Tear; {
	case t == nil:
		return nil
	case t.After < 0:
		return problem("Tear.After", "got %d, want 0 or more", t.After)
	case t.MidFrame && t.Error.Code != 0:
		return problem("Tear", "got MidFrame and Error, want one of them")
	default:
		return validateStatus("Tear.Error", t.Error, 400)
	}
}

// ends returns the names of the fields that end a request.
func (f *Fault) ends() (names []string) {
	for _, end := range []struct {
		name string
		set  bool
	}{
		{"Answer", f.Answer.Code != 0}, {"Hang", f.Hang}, {"Cut", f.Cut != ""}, {"Partition", f.Partition != ""},
	} {
		if end.set {
			names = append(names, end.name)
		}
	}
	return names
}

// problem returns an error that names the field and what was expected there.
func problem(field, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{field}, args...)...)
}

func validateStatus(field string, s meta.Status, least int32) error {
	switch {
	case s.Code == 0 && (s.Message != "" || s.Reason != "" || s.Status != "" || s.Details != nil):
		return problem(field+".Code", "got 0 in a Status with other fields, want %d to 599", least)
	case s.Code != 0 && (s.Code < least || s.Code > 599):
		return problem(field+".Code", "got %d, want %d to 599", s.Code, least)
	case s.Details != nil && s.Details.RetryAfterSeconds < 0:
		return problem(field+".Details.RetryAfterSeconds", "got %d, want 0 or more", s.Details.RetryAfterSeconds)
	}
	return nil
}
