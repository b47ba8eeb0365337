package exchange

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Scenario is a list of requests.
type Scenario struct {
	Name string // also of the file of its recorded answers
	// Play sends the requests to a server and returns the answers. The names of its objects have the id of the run. Events has how
	// many events each watch waits for; it is nil if that is not known.
	Play func(ctx context.Context, id string, events map[string]int) ([]Answer, error)
}

// Equal plays scenarios, each in a parallel subtest of its own, and compares the answers with the recorded ones in a folder. It
// fails on a difference that reasons.txt does not explain. If all scenarios are played, it also fails on a reason that no difference
// needs, and on a differences.md that is not the table of these differences; with write, it writes that file.
func Equal(t *testing.T, folder string, scenarios []Scenario, write bool) {
	data, err := os.ReadFile("reasons.txt")
	must(t, err)
	known, err := parseReasons(string(data))
	must(t, err)
	var mu sync.Mutex
	all := explained{}
	t.Cleanup(func() { // after the subtests
		filtered := slices.ContainsFunc(os.Args, regexp.MustCompile(`-test\.run=?.*/`).MatchString)
		if filtered || t.Failed() {
			return
		}
		for _, r := range known {
			if !r.needed {
				t.Errorf("reasons.txt:%d: no difference needs this reason", r.line)
			}
		}
		checkTable(t, all.table(known), write)
	})
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			want, err := loadAnswers(folder, s.Name)
			must(t, err)
			got, err := s.Play(t.Context(), newID(), events(want))
			must(t, err)
			mu.Lock()
			defer mu.Unlock()
			for _, d := range compare(s.Name, want, got) {
				if why := known.explain(d); why != nil {
					all.add(why, d)
					continue
				}
				t.Errorf("%s: %s\n\tkube-apiserver %.600s\n\tkubecoord      %.600s", d.step, d.path, d.want, d.got)
			}
		})
	}
}

// checkTable compares the table of differences with the table in differences.md, or writes it.
func checkTable(t *testing.T, got string, write bool) {
	const file = "differences.md"
	if write {
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if string(want) != got {
		t.Errorf("%s is old: go test . -write\n%s%s", file, without("-", string(want), got), without("+", got, string(want)))
	}
}

// without returns the lines of a text that are not in another one, each after a sign.
func without(sign, text, other string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(other, line) {
			out.WriteString(sign + line)
		}
	}
	return out.String()
}

// events returns how many events each watch of a recorded scenario has.
func events(answers []Answer) map[string]int {
	out := map[string]int{}
	for _, a := range answers {
		out[a.Step] = len(a.Events)
	}
	return out
}

// Record plays scenarios to a real server, each in a parallel subtest of its own, and writes the answers to a folder. It plays each
// twice, and marks answers that differ.
func Record(t *testing.T, folder string, scenarios []Scenario) {
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			first, err := s.Play(t.Context(), newID(), nil)
			must(t, err)
			answers, err := s.Play(t.Context(), newID(), nil)
			must(t, err)
			unsteady := map[string]bool{}
			for _, d := range compare(s.Name, first, answers) {
				t.Logf("two runs differ: %s: %s: %s, then %s", d.step, d.path, d.want, d.got)
				unsteady[d.step] = true
			}
			if len(unsteady) >= 10 {
				t.Fatalf("%d answers differ: too many for the order of a map", len(unsteady))
			}
			for i := range answers {
				answers[i].Unsteady = unsteady[answers[i].Step]
			}
			must(t, saveAnswers(folder, s.Name, answers))
		})
	}
}

// newID returns the id of a run, in the form of RunID. None is part of an English word.
func newID() string {
	letter := func() byte { return 'a' + byte(rand.IntN(6)) }
	digit := func() byte { return '0' + byte(rand.IntN(10)) }
	return fmt.Sprintf("%c%c%c%c", letter(), digit(), letter(), digit())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
