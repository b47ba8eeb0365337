package apitest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
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
// time, and reports whether no two did. It logs lost updates, which Kubernetes allows
// and clients often intend. See Verdict for the rules.
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
	v := verifier{leaseResource: a.st.Resource(lease.Kind().Registered()), byObject: map[objectKey][]int{}}
	var complete bool
	v.writes, complete = a.record.all() // before the changes, which then include those of all writes
	v.Recorded = a.st.Recorded()
	for i, c := range v.Changes {
		k := keyOf(c.Resource, c.New)
		v.byObject[k] = append(v.byObject[k], i)
	}
	v.out = Verdict{TwoHolders: []Finding{}, LostUpdates: []Finding{}} // lists in JSON, not null
	switch {
	case a.record.limit == 0:
		v.limit("nothing was kept: Options.KeepHistory is negative")
	case !v.Complete:
		v.limit("the store had more changes than KeepHistory: examined the last %d", len(v.Changes))
	}
	if !complete {
		v.limit("clients sent more writes, or saw more objects, than KeepHistory: examined the last ones")
	}
	v.findTwoHolders()
	v.findLostUpdates()
	return v.out
}

// verifier collects findings.
type verifier struct {
	registry.Recorded
	leaseResource *registry.Resource
	writes        map[uint64]write    // by origin
	byObject      map[objectKey][]int // indices of Changes
	out           Verdict
}

func (v *verifier) limit(format string, args ...any) {
	v.out.Limits = append(v.out.Limits, fmt.Sprintf(format, args...))
}

// objectKey names an object.
type objectKey struct {
	resource        *registry.Resource
	namespace, name string
}

func keyOf(r *registry.Resource, it *registry.Item) objectKey {
	return objectKey{r, it.Namespace(), it.Name()}
}

// String returns the object as Request.String does.
func (k objectKey) String() string {
	return k.resource.Info().Plural + " " + objectPath(k.namespace, k.name)
}

// upTo returns the indices of the changes of an object up to and including a version.
func (v *verifier) upTo(k objectKey, version uint64) []int {
	changes := v.byObject[k]
	n, _ := slices.BinarySearchFunc(changes, version+1, func(i int, version uint64) int { return cmp.Compare(v.Changes[i].Version, version) })
	return changes[:n]
}

// excerptLines is how many changes an excerpt shows.
const excerptLines = 8

// excerpt shows the last changes of an object up to a version.
func (v *verifier) excerpt(k objectKey, version uint64) (lines []string) {
	changes := v.upTo(k, version)
	first := max(0, len(changes)-excerptLines)
	if first > 0 || !v.Complete {
		lines = append(lines, "…")
	}
	for _, i := range changes[first:] {
		c := &v.Changes[i]
		by := "through the Store"
		if w, known := v.writes[c.Origin]; known {
			by = "by " + w.String()
		} else if c.Origin != 0 {
			by = "by a request"
		}
		at := c.At.Sub(v.Changes[0].At).Round(time.Microsecond)
		lines = append(lines, fmt.Sprintf("%10s  %d %s %s %s", at, c.Version, c.Type, k, by))
	}
	return lines
}
