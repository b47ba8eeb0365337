package apitest

import (
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// Verdict lists the mistakes of the clients.
type Verdict struct {
	// TwoHolders are Leases that two clients held at the same time.
	TwoHolders []Finding `json:"twoHolders"`
	// LostUpdates are updates that a client overwrote without having seen them. The
	// write had no resourceVersion, so Kubernetes allowed it.
	LostUpdates []Finding `json:"lostUpdates"`
	// Limits say which part of the past was not examined, and why.
	Limits []string `json:"limits,omitempty"`
}

// Finding is one mistake of a client.
type Finding struct {
	// Text describes the mistake in one line.
	Text string `json:"text"`
	// Excerpt shows the changes that led to it, one in each line.
	Excerpt []string `json:"excerpt,omitempty"`
}

// String returns the text with the excerpt below it.
func (f Finding) String() string {
	return strings.Join(append([]string{f.Text}, f.Excerpt...), "\n  ")
}

// shownFindings is how many findings of each kind Verify shows.
const shownFindings = 5

// Verify fails the test, without stopping it, if two clients held a Lease at the same
// time. It logs lost updates, which are allowed and often intended. It reports
// whether it found no failure. See Verdict for its rules.
func (a *API) Verify(t TB) bool {
	t.Helper()
	v := a.Verdict()
	for _, limit := range v.Limits {
		t.Logf("apitest: Verify: %s", limit)
	}
	show := func(findings []Finding, printf func(format string, args ...any)) {
		for i, f := range findings {
			if i == shownFindings {
				t.Logf("apitest: Verify: %d more", len(findings)-i)
				return
			}
			printf("apitest: %s", f)
		}
	}
	show(v.TwoHolders, t.Errorf)
	show(v.LostUpdates, t.Logf)
	return len(v.TwoHolders) == 0
}

// Verdict examines the past of the store and of its clients.
//
// Two clients hold a Lease at the same time if one takes it before the duration that
// the other wrote has passed, by the clock of the store; see lease.Audit. A clock
// that never moves hides this.
//
// An update is lost if a patch or update without a resourceVersion replaces a value
// that another client wrote after its writer last saw the object. Clients are told
// apart by the name passed to TransportFor and by their User-Agent.
//
// Options.KeepHistory limits how far Verdict looks back.
func (a *API) Verdict() Verdict {
	log, forgotten := a.record.all() // before the store, which then knows every version in the log
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
	log    []observation
	before uint64 // how many older entries the log has dropped
	out    Verdict
}

func (v *verifier) verdict() Verdict {
	v.out = Verdict{TwoHolders: []Finding{}, LostUpdates: []Finding{}} // lists in JSON, not null
	switch {
	case v.record.limit == 0:
		v.limit("nothing was kept: Options.KeepHistory is negative")
	case !v.Complete:
		v.limit("the store had more changes than KeepHistory: examined the last %d", len(v.Changes))
	}
	if v.before > 0 {
		v.limit("clients got more answers and events than KeepHistory: examined the last %d", len(v.log))
	}
	v.leases()
	v.updates()
	return v.out
}

func (v *verifier) limit(format string, args ...any) {
	v.out.Limits = append(v.out.Limits, fmt.Sprintf(format, args...))
}

// newFinding returns a finding with a text and the excerpt below it.
func newFinding(excerpt []string, format string, args ...any) Finding {
	return Finding{fmt.Sprintf(format, args...), excerpt}
}
