// Package ginkgo builds and runs suites of other modules that use ginkgo, and reads their reports.
package ginkgo

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Result is the result of a spec.
type Result struct {
	State   string // such as passed, failed or pending
	Message string // why the spec failed or was skipped
}

// Failed reports whether the spec ran and did not pass.
func (r Result) Failed() bool {
	return r.State != "passed" && r.State != "pending" && r.State != "skipped"
}

// InTwoRuns returns the results of a run. If a spec fails that known does not excuse, the suite runs again, and what passes then has not
// failed: specs with waits and checks of goroutines fail at times on a kube-apiserver too.
func InTwoRuns(t *testing.T, known func(spec string) bool, run func() map[string]Result) map[string]Result {
	t.Helper()
	results := run()
	var failed []string
	for name, r := range results {
		if r.Failed() {
			failed = append(failed, name)
		}
	}
	if !slices.ContainsFunc(failed, func(name string) bool { return !known(name) }) {
		return results
	}
	t.Logf("%d of %d specs fail, and all run again: %v", len(failed), len(results), slices.Sorted(slices.Values(failed)))
	again := run()
	for _, name := range failed {
		r, ran := again[name]
		switch {
		case !ran: // a node such as BeforeSuite, which has a result only if it fails
			delete(results, name)
		case !r.Failed():
			results[name] = r
		}
	}
	return results
}

// Run builds the suite of a package and runs it. It returns the results by the names of the specs, which are their texts; a spec
// whose text stands in the suite before has its number behind it. A node such as BeforeSuite has a result if it failed. The test is
// skipped if the modules of the suite are not on this machine and there is no network.
//
// Before each run of the suite, Run calls start with the folder of the package. Start returns the folder to run in and variables to
// add to the environment. Suites run a second and a third time if a port was taken (see tries), so start must start a new server.
func Run(t *testing.T, pkg string, start func(source string) (dir string, env []string)) map[string]Result {
	t.Helper()
	folder := t.TempDir()
	binary, report := filepath.Join(folder, "suite.test"), filepath.Join(folder, "report.json")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, pkg).CombinedOutput()
	if err != nil && strings.Contains(string(out), "dial tcp") {
		t.Skipf("the modules of the suite are not on this machine, and there is no network: %s", out)
	}
	require.NoError(t, err, "%s", out)
	source, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", pkg).Output()
	require.NoError(t, err)

	last := tries(func() outcome {
		dir, env := start(strings.TrimSpace(string(source)))
		cmd := exec.CommandContext(t.Context(), binary, "-ginkgo.no-color", "-ginkgo.json-report="+report)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		o := outcome{output: fmt.Sprintf("%v: %s", err, out)}
		if data, err := os.ReadFile(report); err == nil {
			require.NoError(t, os.Remove(report))
			o.results, err = parse(data)
			require.NoError(t, err)
		}
		return o
	}, t.Logf)
	require.NotNil(t, last.results, "the suite wrote no report: %s", last.output)
	return last.results
}

// outcome is what one run of a suite left. A suite that crashed has no results.
type outcome struct {
	results map[string]Result
	output  string
}

// tries runs a suite again, twice at the most, while a port may have been taken. Upstream's envtest and suites choose a free port,
// close it, and listen at it later. Until then any process of the machine may take it: that is no failure of the server under test.
func tries(run func() outcome, logf func(format string, args ...any)) outcome {
	o := run()
	for again := 0; again < 2 && o.portTaken(); again++ {
		logf("another process may have taken a port that the suite had chosen: the suite runs again")
		o = run()
	}
	return o
}

// portTaken reports whether a spec failed because a port was in use, or may have: specs of pkg/webhook listen in a goroutine whose
// failure ends the suite without a report and without the reason. A crash of another cause comes again.
func (o outcome) portTaken() bool {
	if o.results == nil {
		return true
	}
	for _, r := range o.results {
		if r.Failed() && strings.Contains(r.Message, "bind: address already in use") {
			return true
		}
	}
	return false
}

// parse reads a report of ginkgo.
func parse(data []byte) (map[string]Result, error) {
	var reports []struct {
		SpecReports []struct {
			ContainerHierarchyTexts           []string
			LeafNodeType, LeafNodeText, State string
			Failure                           struct{ Message string }
		}
	}
	if err := json.Unmarshal(data, &reports); err != nil {
		return nil, err
	}
	results := map[string]Result{}
	for _, r := range reports {
		for _, s := range r.SpecReports {
			text := strings.Join(append(s.ContainerHierarchyTexts, s.LeafNodeText), " / ")
			if s.LeafNodeType != "It" {
				if s.State == "passed" {
					continue
				}
				text = s.LeafNodeType
			}
			name := text
			for n := 2; results[name] != (Result{}); n++ {
				name = fmt.Sprintf("%s (%d)", text, n)
			}
			results[name] = Result{s.State, s.Failure.Message}
		}
	}
	return results, nil
}
