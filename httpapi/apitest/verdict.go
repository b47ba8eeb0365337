package apitest

import "strings"

// Verdict lists the mistakes of the clients.
type Verdict struct {
	// TwoHolders are Leases that two clients held at the same time.
	TwoHolders []Finding `json:"twoHolders"`
	// LostUpdates are updates that a client overwrote without having seen them, by a write
	// without a resourceVersion.
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
func (f Finding) String() string { return strings.Join(append([]string{f.Text}, f.Excerpt...), "\n  ") }

// shownFindings is how many findings of each kind Verify shows.
const shownFindings = 5

// Verify fails the test, without stopping it, if two clients held a Lease at the same time, and reports
// whether no two did. It logs lost updates, which Kubernetes allows and clients often intend. See
// Verdict for the rules. It audits the Lease and not the work under it: see WritesWithoutLease.
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
// Two clients hold a Lease at the same time if one takes it before the duration that the other wrote
// has passed, by the clock of the store; see lease.Audit. A clock that never moves hides this.
//
// An update is lost if a patch or update without a resourceVersion replaces a value that another
// client wrote after its writer last saw the object. The name passed to TransportFor and the
// User-Agent identify a client. Options.KeepHistory limits how far Verdict looks back.
func (a *API) Verdict() Verdict {
	v := a.recorder.examiner()
	v.findTwoHolders()
	v.findLostUpdates()
	return v.out
}
