package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// reasonsFile has the reasons for differences, and table lists all differences with them.
const (
	reasonsFile = "reasons.txt"
	table       = "differences.md"
)

// newServer returns a server in memory with all kinds of client-go.
func newServer(t *testing.T) *httpapi.API {
	t.Helper()
	all, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := httpapi.New(st, httpapi.Options{Kinds: all})
	t.Cleanup(api.Close)
	return api
}

// TestAnswersEqualThoseOfKubeAPIServer plays each scenario and compares the answers with the recorded ones.
func TestAnswersEqualThoseOfKubeAPIServer(t *testing.T) {
	data, err := os.ReadFile(reasonsFile)
	require.NoError(t, err)
	known, err := parseReasons(string(data))
	require.NoError(t, err)
	api := newServer(t)
	var mu sync.Mutex
	explained := map[line]int{}
	filtered := false
	t.Run("all", func(t *testing.T) {
		for _, r := range Resources() {
			t.Run(r.File(), func(t *testing.T) {
				t.Parallel()
				sample, err := LoadSample(objects, r)
				require.NoError(t, err)
				want, err := LoadAnswers(recorded, r)
				require.NoError(t, err)
				player := &Player{Transport: api.Transport(), URL: "http://test", ID: runID(), Events: events(want)}
				got, err := player.Play(t.Context(), r, sample)
				require.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				for _, d := range Compare(r.File(), want, got) {
					if why := known.explain(d); why != nil {
						explained[why.line(d)]++
						continue
					}
					t.Errorf("%s: %s\n\tkube-apiserver %.400s\n\tkubecoord      %.400s", d.Step, d.Path, d.Want, d.Got)
				}
			})
		}
	})
	filtered = len(os.Args) > 0 && slices.ContainsFunc(os.Args, regexp.MustCompile(`-test\.run=?.*/`).MatchString)
	if filtered || t.Failed() {
		return
	}
	for _, r := range known {
		if !r.needed {
			t.Errorf("reasons.txt:%d: no difference needs this reason", r.number)
		}
	}
	checkTable(t, known, explained)
}

// events returns how many events each watch of a recorded scenario has.
func events(answers []Answer) map[string]int {
	out := map[string]int{}
	for _, a := range answers {
		out[a.Step] = len(a.Events)
	}
	return out
}

// line is one line of the table of differences.
type line struct {
	reason                    int
	resource, path, want, got string
}

func (r *reason) line(d Difference) line {
	return line{r.number, d.Resource, d.Path, shortened(d.Want), shortened(d.Got)}
}

// shortened cuts a text that is too long for a table.
func shortened(s string) string {
	s = strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

// checkTable compares the table of differences with the one that is checked in, or writes it.
func checkTable(t *testing.T, known reasons, explained map[line]int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Where kubecoord answers otherwise than kube-apiserver 1.36.3\n\nWritten by `go test . -write`. Each line is a point of the answers of a resource, and how many answers it concerns.\n")
	lines := slices.SortedFunc(maps.Keys(explained), func(a, b line) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), strings.Compare(a.resource, b.resource), strings.Compare(a.path, b.path), strings.Compare(a.want, b.want), strings.Compare(a.got, b.got))
	})
	for _, r := range known {
		fmt.Fprintf(&b, "\n## %s\n\n| resource | where | kube-apiserver | kubecoord | answers |\n| --- | --- | --- | --- | --- |\n", r.why)
		for _, l := range lines {
			if l.reason == r.number {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", l.resource, l.path, l.want, l.got, explained[l])
			}
		}
	}
	if *write {
		require.NoError(t, os.WriteFile(table, []byte(b.String()), 0o644))
		return
	}
	want, err := os.ReadFile(table)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "differences.md is old: go test . -write")
}
