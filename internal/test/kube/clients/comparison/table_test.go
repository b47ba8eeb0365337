package comparison

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// row is a need of a test.
type row struct {
	need   string
	points []point
	// envtest is its cell, from its documentation and from the behaviour of
	// kube-apiserver.
	envtest string
}

// point is a part of a need.
type point struct {
	name string
	// check tests whether a subject meets the point. Each check gets a new subject. It runs in
	// a synctest bubble, except if inRealTime is set.
	check      func(t *testing.T, s subject) finding
	inRealTime bool
}

// finding is an observation, with a remark: how something is
// done, or what happens instead.
type finding struct {
	holds bool
	how   string
}

func no(how ...string) finding { return finding{false, strings.Join(how, ", ")} }

// when returns a finding without a note.
func when(holds bool) finding { return finding{holds, ""} }

// columns are the columns of the table whose subjects are run.
var columns = []struct {
	title    string
	variants []variant
}{
	{"kubecoord", []variant{{"with client-go", kubecoord}, {"with controller-runtime", kubecoordByRuntime}}},
	{"client-go's fake", []variant{{"`NewClientset`", newClientset}, {"`NewSimpleClientset`", newSimpleClientset}}},
	{"controller-runtime's fake", []variant{{"", newFakeClient}}},
}

// variant is one way to build a subject.
type variant struct {
	name string
	open func(t testing.TB) subject
}

// figures are the rows that a benchmark measures, with the best results seen.
const figures = "| from nothing to the first answer | 0.3 ms | 0.005 ms; `NewClientset`: 0.15 s once | 2 ms | seconds, and downloads |\n"

func TestTableInDocsIsWhatIsObserved(t *testing.T) {
	data, err := os.ReadFile("../../../../../docs/comparison.md")
	require.NoError(t, err)
	var want strings.Builder
	want.WriteString("| what a test needs |")
	for _, c := range columns {
		want.WriteString(" " + c.title + " |")
	}
	want.WriteString(" envtest |\n" + strings.Repeat("| --- ", len(columns)+2) + "|\n")
	for _, r := range rows {
		line := "| " + r.title() + " |"
		t.Run(r.need, func(t *testing.T) {
			for _, c := range columns {
				line += " " + cell(t, r, c.variants) + " |"
			}
		})
		want.WriteString(line + " " + r.envtest + " |\n")
	}
	want.WriteString(figures)
	_, table, found := strings.Cut(string(data), "\n| what a test needs |")
	require.True(t, found, "docs/comparison.md has no table to compare; this would be it:\n%s", want.String())
	table, _, _ = strings.Cut("| what a test needs |"+table, "\n\n")
	if !assert.Equal(t, want.String(), table+"\n") {
		t.Logf("what docs/comparison.md should say:\n%s", want.String())
	}
}

// title returns the need and its points as text.
func (r row) title() string {
	if len(r.points) == 1 && r.points[0].name == "" {
		return r.need
	}
	var names []string
	for _, p := range r.points {
		names = append(names, p.name)
	}
	return r.need + ": " + strings.Join(names, ", ")
}

// cell runs the points of a row and returns the results as text. Variants with
// other results than the first follow with their names.
func cell(t *testing.T, r row, variants []variant) string {
	var parts []string
	for i, v := range variants {
		part := r.sum(r.find(t, v))
		switch {
		case i == 0:
			parts = append(parts, part)
		case part != parts[0]:
			parts = append(parts, v.name+": "+part)
		}
	}
	return strings.Join(parts, "; ")
}

// find runs each point of a row against a new subject.
func (r row) find(t *testing.T, v variant) []finding {
	found := make([]finding, len(r.points))
	for i, p := range r.points {
		t.Run(strings.Trim(p.name+" "+v.name, " "), func(t *testing.T) {
			if p.inRealTime {
				found[i] = p.check(t, v.open(t))
			} else {
				synctest.Test(t, func(t *testing.T) { found[i] = p.check(t, v.open(t)) })
			}
		})
	}
	return found
}

// sum returns findings as text: yes or no if all are equal, otherwise the names
// of the points that hold, followed by the notes.
func (r row) sum(found []finding) string {
	var held, hows []string
	for i, f := range found {
		if f.how != "" && !slices.Contains(hows, f.how) {
			hows = append(hows, f.how)
		}
		if f.holds {
			held = append(held, r.points[i].name)
		}
	}
	words := strings.Join(held, ", ")
	switch len(held) {
	case 0:
		words = "no"
	case len(found):
		words = "yes"
	}
	if len(hows) == 0 {
		return words
	}
	return words + ": " + strings.Join(hows, ", ")
}
