package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// Verdict is the result of API.Verdict.
type Verdict struct {
	// Findings are the Leases with two holders, then the lost updates.
	Findings []Finding `json:"findings"`
	// Limits say what was not looked at, and why.
	Limits []string `json:"limits,omitempty"`
}

// Finding is one mistake of a client.
type Finding struct {
	Kind FindingKind `json:"kind"`
	// Text says in one line what happened.
	Text string `json:"text"`
	// Excerpt shows the changes that led to it, one a line.
	Excerpt []string `json:"excerpt,omitempty"`
}

// FindingKind is the kind of a finding.
type FindingKind string

// The kinds of findings.
const (
	// TwoHolders is a Lease that two clients held at once.
	TwoHolders FindingKind = "two holders"
	// LostUpdate is a write without a precondition that replaced another client's
	// write, which its writer had not seen. Kubernetes permits it.
	LostUpdate FindingKind = "lost update"
)

// String returns the text with the excerpt below it.
func (f Finding) String() string {
	return strings.Join(append([]string{f.Text}, f.Excerpt...), "\n  ")
}

// shownFindings is how many findings of a kind Verify shows.
const shownFindings = 5

// Verify looks back at what the clients of a test did to each other. It reports
// whether they made no mistake, and otherwise fails the test, which goes on:
//
//   - Two held a Lease at once, by the durations that the holders wrote themselves;
//     see lease.Audit.
//   - An update was lost: a patch or update without a resourceVersion replaced what
//     another client had written since its writer last saw the object. Kubernetes
//     permits this and it is often intended, so it is only logged unless
//     Options.Strict is set.
//
// Verify sees only what is remembered, see Options.KeepHistory, and logs if there
// was more. It tells clients apart by their name, see TransportFor, and their
// User-Agent. Time is that of the store's clock. Without a clock that moves Verify
// cannot find two holders.
func (a *API) Verify(t testing.TB) bool {
	t.Helper()
	v := a.Verdict()
	for _, limit := range v.Limits {
		t.Logf("apitest: Verify: %s", limit)
	}
	ok := true
	shown := map[FindingKind]int{}
	for _, f := range v.Findings {
		fails := f.Kind != LostUpdate || a.opts.Strict
		ok = ok && !fails
		if shown[f.Kind]++; shown[f.Kind] > shownFindings {
			continue
		}
		if fails {
			t.Errorf("apitest: %s", f)
		} else {
			t.Logf("apitest: %s", f)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(shown)) {
		if n := shown[kind]; n > shownFindings {
			t.Logf("apitest: Verify: %s: %d more", kind, n-shownFindings)
		}
	}
	return ok
}

// Verdict returns what Verify finds.
func (a *API) Verdict() Verdict {
	log, forgotten := a.record.all() // before the store, which must know of all that was told
	resources := make([]*registry.Resource, len(a.served))
	for i, kind := range a.served {
		resources[i] = a.st.Resource(kind.Registered())
	}
	v := verifier{history: newHistory(a.st.Recorded(), resources, log), record: a.record, log: log, before: forgotten}
	return v.verdict()
}

// verifier collects findings.
type verifier struct {
	*history
	record *record
	log    []told
	before uint64 // how many entries the log no longer has
	out    Verdict
}

func (v *verifier) verdict() Verdict {
	v.out = Verdict{Findings: []Finding{}}
	switch {
	case v.record.limit == 0:
		v.limit("nothing was remembered: Options.KeepHistory is below 0")
	case !v.Complete:
		v.limit("history is longer than what is kept: only the last %d changes are looked at", len(v.Changes))
	}
	if v.before > 0 {
		v.limit("clients were told more than what is kept: only the last %d answers and events are looked at", len(v.log))
	}
	v.leases()
	v.updates()
	return v.out
}

func (v *verifier) limit(format string, args ...any) {
	v.out.Limits = append(v.out.Limits, fmt.Sprintf(format, args...))
}

// find adds a finding.
func (v *verifier) find(kind FindingKind, excerpt []string, format string, args ...any) {
	v.out.Findings = append(v.out.Findings, Finding{kind, fmt.Sprintf(format, args...), excerpt})
}
