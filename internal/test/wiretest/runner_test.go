package wiretest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckFindsNoDifferenceInTheSameServer(t *testing.T) {
	r := &Runner{Transport: &toy{version: 40}, BaseURL: "http://toy/"}
	g, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	meta, _ := pointer(g.Expect[0].JSON, "/metadata")
	assert.Equal(t, map[string]any{
		"name": "x-{gen1}", "generateName": "x-", "namespace": "{ns}", "uid": "{uid1}",
		"resourceVersion": "{rv1}", "creationTimestamp": "{time}",
	}, meta)
	assert.Equal(t, []string{"{rv1}", "{rv2}"}, g.VersionOrder)
	assert.Equal(t, Result{Name: "toy", Exchanges: 3}, r.Check(t.Context(), g))
}

func TestCheckFindsAVersionThatJumpsBack(t *testing.T) {
	s := &toy{version: 40}
	r := &Runner{Transport: s, BaseURL: "http://toy"}
	g, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	s.jumps = true
	res := r.Check(t.Context(), g)
	require.NoError(t, res.Err)
	require.Equal(t, 2, res.Different, "%v", res.Differences)
	assert.Equal(t, `step 1 (GET /{{ns}}/things/{{n}}): body /metadata/resourceVersion: want "{rv1}", got "{rv2}"`, res.Differences[0].String())
}

func TestCheckComparesTheOrderOfVersions(t *testing.T) {
	r := &Runner{Transport: &toy{version: 40}, BaseURL: "http://toy"}
	g, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	g.VersionOrder = []string{"{rv2}", "{rv1}"}
	res := r.Check(t.Context(), g)
	require.Len(t, res.Differences, 1)
	assert.Equal(t, 1, res.Different)
	assert.Equal(t, Difference{Step: -1, Label: "all", Where: "order of resource versions", Want: []string{"{rv2}", "{rv1}"}, Got: []string{"{rv1}", "{rv2}"}}, res.Differences[0])
}

func TestRecordReplacesDifferencesThatAreNotAccepted(t *testing.T) {
	r := &Runner{Transport: &toy{version: 40}, BaseURL: "http://toy"}
	stored, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	same, res := r.Record(t.Context(), stored, nil)
	assert.Equal(t, stored, same)
	assert.Empty(t, res.Differences)

	other := stored
	other.Expect = slices.Clone(stored.Expect)
	other.Expect[0].Status, other.Expect[2].Status = 418, 419
	recorded, res := r.Record(t.Context(), other, nil)
	assert.Equal(t, stored, recorded)
	assert.Len(t, res.Differences, 2)

	recorded, res = r.Record(t.Context(), other, func(d Difference) bool { return d.Want == 419 })
	assert.Equal(t, []int{200, 200, 419}, []int{recorded.Expect[0].Status, recorded.Expect[1].Status, recorded.Expect[2].Status})
	assert.Len(t, res.Differences, 1)
	assert.Equal(t, 418, other.Expect[0].Status, "the argument must not change")

	// A scenario that was never recorded has outcomes without a status.
	recorded, _ = r.Record(t.Context(), Golden{Scenario: toyScenario(), Expect: make([]Expected, 3)}, nil)
	assert.Equal(t, stored, recorded)
}

func TestCheckReportsAServerThatFails(t *testing.T) {
	broken := errors.New("no route")
	r := &Runner{BaseURL: "http://toy", Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, broken })}
	res := r.Check(t.Context(), Golden{Scenario: toyScenario(), Expect: make([]Expected, 3)})
	assert.ErrorIs(t, res.Err, broken)
	assert.Equal(t, 3, res.Exchanges)
	assert.Equal(t, 3, res.Different)
	require.Len(t, res.Differences, 1)
	assert.Equal(t, `step 0 (POST /{{ns}}/things): exchange: want "an answer", got "step 0 (POST /{{ns}}/things): no route"`, res.Differences[0].String())
}

func TestCheckPreparesTheNamespaces(t *testing.T) {
	var names []string
	r := &Runner{Transport: &toy{version: 40}, BaseURL: "http://toy", Prepare: func(_ context.Context, name string) error {
		names = append(names, name)
		return nil
	}}
	_, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	require.Len(t, names, 2)
	assert.Equal(t, names[0]+"-second", names[1])

	refused := errors.New("refused")
	r.Prepare = func(context.Context, string) error { return refused }
	_, err = r.replay(t.Context(), toyScenario())
	assert.ErrorIs(t, err, refused)
}

func TestCheckFailsOnAServerThatDoesNotAnswer(t *testing.T) {
	for _, row := range []struct {
		name string
		step Step
	}{
		{"a request", Step{Method: "GET", Path: "/"}},
		{"the opening of a stream", Step{Method: "GET", Path: "/", Open: "w"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &Runner{BaseURL: "http://toy", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				})}
				start := time.Now()
				res := r.Check(t.Context(), Golden{Scenario: Scenario{Steps: []Step{row.step}}, Expect: make([]Expected, 1)})
				assert.ErrorIs(t, res.Err, errNoAnswer)
				assert.Equal(t, answerLimit, time.Since(start))
			})
		})
	}
}
