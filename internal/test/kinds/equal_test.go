package kinds

import (
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/exchange"
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
	known, err := exchange.ParseReasons(string(data))
	require.NoError(t, err)
	api := newServer(t)
	var mu sync.Mutex
	explained := exchange.Explained{}
	filtered := false
	t.Run("all", func(t *testing.T) {
		for _, r := range Resources() {
			t.Run(r.File(), func(t *testing.T) {
				t.Parallel()
				sample, err := LoadSample(objects, r)
				require.NoError(t, err)
				want, err := exchange.LoadAnswers(recorded, r.File())
				require.NoError(t, err)
				player := &Player{Transport: api.Transport(), URL: "http://test", ID: runID(), Events: events(want)}
				got, err := player.Play(t.Context(), r, sample)
				require.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				for _, d := range exchange.Compare(r.File(), want, got) {
					if why := known.Explain(d); why != nil {
						explained.Add(why, d)
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
		if !r.Needed {
			t.Errorf("reasons.txt:%d: no difference needs this reason", r.Line)
		}
	}
	checkTable(t, known, explained)
}

// events returns how many events each watch of a recorded scenario has.
func events(answers []exchange.Answer) map[string]int {
	out := map[string]int{}
	for _, a := range answers {
		out[a.Step] = len(a.Events)
	}
	return out
}

// checkTable compares the table of differences with the one that is checked in, or writes it.
func checkTable(t *testing.T, known exchange.Reasons, explained exchange.Explained) {
	t.Helper()
	got := explained.Table(known)
	if *write {
		require.NoError(t, os.WriteFile(table, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(table)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "differences.md is old: go test . -write")
}
