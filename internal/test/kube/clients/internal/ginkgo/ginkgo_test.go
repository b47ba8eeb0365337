package ginkgo

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorded returns the outcome of a run of controller-runtime's pkg/webhook, while another process listened at the port of its
// webhooks: testdata/taken.json has some specs of the report.
func recorded(t *testing.T) outcome {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "taken.json"))
	require.NoError(t, err)
	results, err := parse(data)
	require.NoError(t, err)
	return outcome{results: results}
}

const (
	taken = "Webhook / when running a webhook server with a manager / should reject create request for multi-webhook that rejects all requests"
	inUse = "listen tcp 127.0.0.1:35115: bind: address already in use"
)

func TestReportHasResultsByNamesOfSpecs(t *testing.T) {
	results := recorded(t).results
	assert.Contains(t, results[taken].Message, inUse)
	results[taken] = Result{State: results[taken].State}
	assert.Equal(t, map[string]Result{
		taken: {State: "failed"},
		"Webhook Server / should panic if a duplicate path is registered":                                               {State: "passed"},
		"Webhook Server / when serving / should support HTTP/2":                                                         {State: "pending"},
		"Webhook Server / when registering new webhooks before starting / should serve a webhook on the requested path": {State: "skipped"},
		"Webhook Server / when registering webhooks after starting / should serve a webhook on the requested path":      {State: "skipped"},
	}, results, "a BeforeSuite that passed is no spec")
}

func TestSpecsWithTheSameTextAreCounted(t *testing.T) {
	results, err := parse([]byte(`[{"SpecReports": [
		{"LeafNodeType": "BeforeSuite", "State": "failed", "Failure": {"Message": "no server"}},
		{"LeafNodeType": "It", "LeafNodeText": "works (mostly)", "State": "passed"},
		{"LeafNodeType": "It", "LeafNodeText": "works (mostly)", "State": "panicked"},
		{"LeafNodeType": "It", "LeafNodeText": "works (mostly)", "State": "passed"}]}]`))
	require.NoError(t, err)
	assert.Equal(t, map[string]Result{
		"BeforeSuite":    {"failed", "no server"},
		"works (mostly)": {"passed", ""}, "works (mostly) (2)": {"panicked", ""}, "works (mostly) (3)": {"passed", ""},
	}, results)
	assert.True(t, results["works (mostly) (2)"].Failed())
}

func TestBrokenReportIsAnError(t *testing.T) {
	_, err := parse([]byte(`[{`))
	assert.Error(t, err)
}

func TestSuiteRunsAgainOnlyIfAPortMayHaveBeenTaken(t *testing.T) {
	other, skipped := recorded(t), recorded(t)
	other.results[taken] = Result{State: "failed", Message: strings.Replace(other.results[taken].Message, "address already in use", "permission denied", 1)}
	skipped.results[taken] = Result{State: "skipped", Message: inUse}
	passed := outcome{results: map[string]Result{"works": {State: "passed"}}, output: inUse + " is in the log of a suite that passed"}
	for name, row := range map[string]struct {
		outcomes []outcome // of the runs
		runs     int
	}{
		"a failed spec":                {[]outcome{recorded(t), passed}, 2},
		"twice":                        {[]outcome{recorded(t), recorded(t), passed}, 3},
		"no more than twice":           {[]outcome{recorded(t), recorded(t), recorded(t), passed}, 3},
		"then another failure":         {[]outcome{recorded(t), other, passed}, 2},
		"a suite that crashed":         {[]outcome{{output: "panic: your test failed"}, passed}, 2},
		"a suite that always crashes":  {[]outcome{{output: "panic: 1"}, {output: "panic: 2"}, {output: "panic: 3"}, passed}, 3},
		"a spec that failed otherwise": {[]outcome{other, passed}, 1},
		"a spec that did not run":      {[]outcome{skipped, passed}, 1},
		"a suite that passed says it":  {[]outcome{passed, other}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			last := tries(func() outcome {
				runs++
				return row.outcomes[runs-1]
			}, t.Logf)
			assert.Equal(t, row.runs, runs)
			assert.Equal(t, row.outcomes[runs-1], last)
		})
	}
}

func TestASpecFailsThatFailsInTwoRuns(t *testing.T) {
	runs := []map[string]Result{
		{"a": {State: "passed"}, "b": {State: "failed"}, "c": {State: "failed"}, "BeforeSuite": {State: "failed"}},
		{"a": {State: "failed"}, "b": {State: "passed"}, "c": {State: "timedout"}},
	}
	play := func(known ...string) (results map[string]Result, played int) {
		results = InTwoRuns(t, func(spec string) bool { return slices.Contains(known, spec) }, func() map[string]Result {
			played++
			return maps.Clone(runs[played-1])
		})
		return results, played
	}
	results, played := play()
	assert.Equal(t, 2, played)
	assert.Equal(t, map[string]Result{"a": {State: "passed"}, "b": {State: "passed"}, "c": {State: "failed"}}, results)

	results, played = play("b", "c", "BeforeSuite")
	assert.Equal(t, 1, played, "no other spec fails")
	assert.Equal(t, runs[0], results)
}
