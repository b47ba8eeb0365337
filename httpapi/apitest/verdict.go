package apitest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
)

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

func (rec *recorder) examiner() *examiner {
	v := &examiner{rec: rec, byObject: map[objectName][]*change{}, out: Verdict{TwoHolders: []Finding{}, LostUpdates: []Finding{}}} // lists in JSON, not null
	rec.mu.Lock()
	rec.trimLocked()
	v.changes, v.since, v.whole, v.forks = slices.Clip(rec.changes), rec.since, rec.whole, slices.Clip(rec.forks)
	complete := !rec.incomplete
	rec.mu.Unlock()
	for _, c := range v.changes {
		o := objectOf(c)
		v.byObject[o] = append(v.byObject[o], c)
	}
	switch {
	case rec.limit == 0:
		v.out.Limits = append(v.out.Limits, "nothing was kept: Options.KeepHistory is negative")
	case !v.whole:
		v.out.Limits = append(v.out.Limits, fmt.Sprintf("the store had more changes than KeepHistory: examined the last %d", len(v.changes)))
	}
	if !complete {
		v.out.Limits = append(v.out.Limits, "clients saw more objects than KeepHistory: examined the last ones")
	}
	return v
}

// examiner collects findings.
type examiner struct {
	rec      *recorder
	changes  []*change
	since    uint64
	whole    bool
	forks    []fork
	byObject map[objectName][]*change
	out      Verdict
}

// writeOf returns the request that made a change, or nil if none did, or a request to another API.
func (v *examiner) writeOf(c *change) *write {
	if c.by == nil || c.by.api.recorder != v.rec {
		return nil
	}
	return c.by
}

// objectName names an object.
type objectName struct {
	kind            *kinds.Kind
	namespace, name string
}

func objectOf(c *change) objectName {
	it := c.Newest()
	return objectName{c.Kind(), it.Namespace(), it.Name()}
}

// String returns the resource and the path.
func (o objectName) String() string {
	return o.kind.Info().Plural + " " + objectPath(o.namespace, o.name)
}

func (v *examiner) upTo(o objectName, version uint64) []*change {
	changes := v.byObject[o]
	n, _ := slices.BinarySearchFunc(changes, version+1, (*change).compare)
	return changes[:n]
}

// excerptLines is how many changes an excerpt shows.
const excerptLines = 8

func (v *examiner) excerpt(o objectName, version uint64) (lines []string) {
	changes := v.upTo(o, version)
	first := max(0, len(changes)-excerptLines)
	if first > 0 || !v.whole {
		lines = append(lines, "…")
	}
	for _, c := range changes[first:] {
		by := "through the Store"
		if w := v.writeOf(c); w != nil {
			by = "by " + w.String()
		} else if c.by != nil {
			by = "by a request"
		}
		at := c.At.Sub(v.changes[0].At).Round(time.Microsecond)
		if c.isLease() && c.New != nil {
			by += ", " + heldBy(c.New)
		}
		lines = append(lines, fmt.Sprintf("%10s  %d %s %s %s", at, c.Version, c.Type(), o, by))
	}
	return lines
}
