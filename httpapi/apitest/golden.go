package apitest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/fixture"
)

// Golden compares the state of the store with a file, such as "testdata/state.yaml", and reports the lines that differ as an error of the
// test. The state is as Dump returns it with opts and Repeatable, so it is the same in each run and on each machine.
//
// If the test has a flag -update and it is set, Golden writes the file instead. A package of tests declares it, if no other library does:
//
//	var _ = flag.Bool("update", false, "rewrite the golden files")
func (a *API) Golden(file string, opts fixture.DumpOptions) {
	a.t.Helper()
	opts.Repeatable = true
	got := a.Dump(opts)
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil {
			err = os.WriteFile(file, []byte(got), 0o666)
		}
		if err != nil {
			a.t.Fatalf("apitest.Golden: %v", err)
		}
		return
	}
	const rewrite = "a test with the flag -update writes it: see Golden"
	data, err := os.ReadFile(file)
	if err != nil {
		a.t.Fatalf("apitest.Golden: %v; %s", err, rewrite)
		return
	}
	if want := strings.ReplaceAll(string(data), "\r\n", "\n"); want != got {
		a.t.Errorf("the state differs from %s; %s:\n%s", file, rewrite, difference(want, got))
	}
}

// maxDifference is how many lines of a difference are shown.
const maxDifference = 60

// difference returns the lines from the first to the last one that differ, and three around.
func difference(want, got string) string {
	w, g := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	same := 0
	for same < min(len(w), len(g)) && w[same] == g[same] {
		same++
	}
	tail := 0
	for tail < min(len(w), len(g))-same && w[len(w)-1-tail] == g[len(g)-1-tail] {
		tail++
	}
	var lines []string
	add := func(prefix string, from []string) {
		for _, line := range from {
			lines = append(lines, prefix+strings.TrimSuffix(line, "\n"))
		}
	}
	add("  ", w[max(0, same-3):same])
	add("- ", w[same:len(w)-tail])
	add("+ ", g[same:len(g)-tail])
	add("  ", w[len(w)-tail:len(w)-max(0, tail-3)])
	if len(lines) > maxDifference {
		lines = slices.Concat(lines[:maxDifference], []string{"…"})
	}
	return strings.Join(lines, "\n")
}
