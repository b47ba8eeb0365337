package apitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubecoord/kubecoord/store"
)

// Verdict is what comes of looking back at a test; see API.Verify.
type Verdict struct {
	// Findings are what is wrong, the Leases first, then writes, reads, watches
	// and lost updates.
	Findings []Finding `json:"findings"`
	// Limits say what could not be looked at, and why.
	Limits []string `json:"limits,omitempty"`
	// Changes, Answers, Events and Watches are how much was looked at.
	Changes int `json:"changes"`
	Answers int `json:"answers"`
	Events  int `json:"events"`
	Watches int `json:"watches"`
}

// Finding is one thing that is wrong.
type Finding struct {
	Kind FindingKind `json:"kind"`
	// Text says what is wrong, in one line.
	Text string `json:"text"`
	// Excerpt shows what led to it, line by line.
	Excerpt []string `json:"excerpt,omitempty"`
	// Permitted tells that Kubernetes lets it pass: no server is to blame, but
	// maybe a client.
	Permitted bool `json:"permitted,omitempty"`
}

// FindingKind is what kind of thing is wrong.
type FindingKind string

// The kinds of findings.
const (
	// TwoHolders is a Lease that two held at once.
	TwoHolders FindingKind = "two holders"
	// LostWrite is a write that was answered as if it had been done, and was not,
	// or not so; or the other way around.
	LostWrite FindingKind = "lost write"
	// StaleRead is an answer that tells of a state that was gone, or never was.
	StaleRead FindingKind = "stale read"
	// BrokenWatch is a watch that left out an event, or told one twice, too
	// early, too late or wrongly.
	BrokenWatch FindingKind = "broken watch"
	// LostUpdate is a write without a precondition that changed what another one
	// had written, unseen by the writer. Kubernetes permits it.
	LostUpdate FindingKind = "lost update"
)

// String returns the text, and the excerpt below it.
func (f Finding) String() string {
	if len(f.Excerpt) == 0 {
		return f.Text
	}
	return f.Text + "\n  " + strings.Join(f.Excerpt, "\n  ")
}

// shownFindings is how many findings of a kind Verify shows.
const shownFindings = 5

// Verify looks back at what has happened, and reports whether all was as it should
// be. Where it was not, it fails the test, which goes on, and shows what led to it.
//
//   - Leases: each had one holder at a time by the holders' own rules; see
//     lease.Audit.
//   - Writes: what a client was told had been done is in the history of the store,
//     once and as it was told, and stays until a later write; what was answered
//     4xx, or was a dry run, made no change.
//   - Reads: a get or list without a resourceVersion told of a state that was
//     there while it ran, so that none goes back behind what a client was told
//     before; other gets told of one that the version they ask for allows. What
//     lists hold is not looked at.
//   - Watches: what each was sent begins where it asked for, is in order, nothing
//     twice, nothing that it does not select, each event of the right type, and
//     up to the last event or bookmark nothing is missing. What would have come
//     after that is not waited for. Of the object of an event it compares the
//     name, the uid and the version.
//   - Lost updates: a patch or update that names no resourceVersion replaced what
//     another one had written since its writer last saw the object. Kubernetes
//     permits this and often it is meant so, hence it is logged alone, unless
//     Options.Strict makes it fail the test.
//
// What faults do to clients is no finding: a write whose answer was cut may have
// been made or not, a watch may end at any point. What was answered 5xx leaves open
// whether it was done.
//
// It sees what is remembered, see Options.KeepHistory, and logs it if there was
// more. Clients are told apart by the name given to TransportFor and by their
// User-Agent. Times are those of the store's clock: with one that stands still it
// cannot tell of Leases. What happens while it looks may not be seen.
func (a *API) Verify(t testing.TB) bool {
	t.Helper()
	v := a.Verdict()
	for _, limit := range v.Limits {
		t.Logf("apitest: Verify: %s", limit)
	}
	ok := true
	shown := map[FindingKind]int{}
	for _, f := range v.Findings {
		fails := !f.Permitted || a.opts.Strict
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

// Verdict is Verify without a test: it returns what it finds.
func (a *API) Verdict() Verdict {
	log, forgotten := a.record.all() // before the store, which is to know of all that was told
	resources := make([]*store.Resource, len(a.served))
	for i, kind := range a.served {
		resources[i] = a.st.Resource(kind)
	}
	v := verifier{history: newHistory(a.st.Recorded(), resources, log), record: a.record, log: log, before: forgotten}
	return v.verdict()
}

// verifier finds what is wrong with what clients were told.
type verifier struct {
	*history
	record *record
	log    []told
	before uint64 // how many are no longer in the log
	out    Verdict
}

func (v *verifier) verdict() Verdict {
	v.out = Verdict{Findings: []Finding{}, Changes: len(v.Changes)}
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
	v.objects()
	v.answers()
	v.watches()
	v.updates()
	return v.out
}

func (v *verifier) limit(format string, args ...any) {
	v.out.Limits = append(v.out.Limits, fmt.Sprintf(format, args...))
}

// find adds a finding.
func (v *verifier) find(kind FindingKind, excerpt []string, format string, args ...any) {
	v.out.Findings = append(v.out.Findings, Finding{
		Kind: kind, Text: fmt.Sprintf(format, args...), Excerpt: excerpt, Permitted: kind == LostUpdate,
	})
}
