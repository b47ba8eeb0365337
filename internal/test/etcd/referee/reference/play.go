package reference

import (
	"context"
	"errors"
	"reflect"

	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

// attempts is the most runs of a scenario. A real server has other writers and a real clock: another write may take a
// version between two steps, and a second may begin between two writes of managed fields.
const attempts = 3

// Played is the outcome of a scenario.
type Played struct {
	Recorded    wiretest.Golden       // with the answers of the server where they differ
	Differences []wiretest.Difference // without accepted ones
}

// Play runs a scenario until it is as recorded, except for accepted differences, or until two runs in a row got the same
// answers. It returns an error if a step cannot be carried out, or if no two runs in a row agree.
func Play(ctx context.Context, runner *wiretest.Runner, g wiretest.Golden, accepted Accepted) (Played, error) {
	var last Played
	for range attempts {
		recorded, res := runner.Record(ctx, g, func(d wiretest.Difference) bool { return accepted.Accepts(g.Scenario.Name, d) })
		p := Played{recorded, res.Differences}
		if res.Err != nil {
			return p, res.Err
		}
		if len(p.Differences) == 0 || reflect.DeepEqual(p.Recorded, last.Recorded) {
			return p, nil
		}
		last = p
	}
	return last, errors.New("no two attempts in a row got the same answers")
}
