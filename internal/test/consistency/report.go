package consistency

import (
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// Report is the result of comparing the answers and events with the changes of the store.
type Report struct {
	Findings []Finding
	// Complete reports whether the store recorded all its changes.
	Complete bool
	// Changes, Answers, Events and Watches are the numbers of each that were compared.
	Changes, Answers, Events, Watches int
}

// Finding is one mistake of the server.
type Finding struct {
	Kind    Kind
	Text    string   // in one line
	Excerpt []string // the changes and events that led to it
}

// String returns the text with the excerpt below it.
func (f Finding) String() string {
	return strings.Join(append([]string{f.Text}, f.Excerpt...), "\n  ")
}

// Kind is the kind of a finding.
type Kind string

// The kinds of findings.
const (
	LostWrite   Kind = "lost write"   // a write whose answer differs from its effect
	StaleRead   Kind = "stale read"   // an answer from a state that had ended, or that never existed
	BrokenWatch Kind = "broken watch" // an event that is missing, repeated, out of order or wrong
)

// Report compares all that is recorded so far. It may leave out requests that are still running.
func (a *API) Report() Report {
	log := a.rec.all() // before Recorded: the store must have every change that the log shows
	resources := make([]*registry.Resource, len(a.kinds))
	for i, kind := range a.kinds {
		resources[i] = a.rec.st.Resource(kind.Registered())
	}
	v := verifier{history: newHistory(a.rec.st.Recorded(), resources, log), log: log}
	return v.report()
}

// verifier collects findings.
type verifier struct {
	*history
	log []observation
	out Report
}

func (v *verifier) report() Report {
	v.out = Report{Changes: len(v.Changes), Complete: v.Complete}
	if v.Complete {
		v.objects()
		v.answers()
		v.watches()
	}
	return v.out
}

// find adds a finding.
func (v *verifier) find(kind Kind, excerpt []string, format string, args ...any) {
	v.out.Findings = append(v.out.Findings, Finding{kind, fmt.Sprintf(format, args...), excerpt})
}
