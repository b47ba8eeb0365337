package wiretest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Result is the verdict on one scenario.
type Result struct {
	Name        string       // of the scenario
	Exchanges   int          // steps that talk to the server
	Different   int          // number of steps that differ, plus one if only the order of versions differs
	Differences []Difference // empty only if everything is as recorded
	Err         error        // why the scenario stopped early; it is also a difference
}

// Difference is one difference between a recording and an observation.
type Difference struct {
	Step  int    // index, -1 for the scenario as a whole
	Label string // which step, such as GET /version
	Where string // the part of the answer, such as body /metadata/name
	Want  any
	Got   any
}

// String describes the difference in one line. Long values are cut.
func (d Difference) String() string {
	return fmt.Sprintf("step %d (%s): %s: want %s, got %s", d.Step, d.Label, d.Where, show(d.Want), show(d.Got))
}

func show(v any) string {
	const limit = 600
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(b) > limit {
		b = append(b[:limit], "..."...)
	}
	return string(b)
}

// compare compares the outcomes, observed until err, with the recording.
func compare(want, got Golden, err error) Result {
	res := Result{Name: want.Scenario.Name, Err: err}
	for i, s := range want.Scenario.Steps {
		if s.exchanges() {
			res.Exchanges++
		}
		switch {
		case i < len(got.Expect):
			if s.exchanges() {
				res.add(i, s.label(), compareStep(s, want.Expect[i], got.Expect[i])...)
			}
		case i == len(got.Expect):
			res.add(i, s.label(), Difference{Where: "exchange", Want: "an answer", Got: fmt.Sprint(err)})
		case s.exchanges():
			res.Different++
		}
	}
	if res.Different == 0 && err == nil && !slices.Equal(want.VersionOrder, got.VersionOrder) {
		res.add(-1, "all", Difference{Where: "order of resource versions", Want: want.VersionOrder, Got: got.VersionOrder})
	}
	return res
}

// add adds the differences of one step.
func (res *Result) add(step int, label string, found ...Difference) {
	if len(found) > 0 {
		res.Different++
	}
	for _, d := range found {
		d.Step, d.Label = step, label
		res.Differences = append(res.Differences, d)
	}
}
