package kinds

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

var (
	server = flag.String("url", "", "URL of a kube-apiserver that asks for no credentials: record its answers")
	write  = flag.Bool("write", false, "write the table of differences again")
)

const (
	objects  = "testdata/objects"
	recorded = "testdata/answers"
)

// runID returns the id of a run. None is part of an English word.
func runID() string {
	letter := func() byte { return 'a' + byte(rand.IntN(6)) }
	digit := func() byte { return '0' + byte(rand.IntN(10)) }
	return fmt.Sprintf("%c%c%c%c", letter(), digit(), letter(), digit())
}

// TestRecord writes the answers of the server of -url. It plays each scenario twice, and marks answers that differ.
func TestRecord(t *testing.T) {
	if *server == "" {
		t.Skip("records the answers of a kube-apiserver, which -url names")
	}
	for _, r := range Resources() {
		t.Run(r.File(), func(t *testing.T) {
			t.Parallel()
			sample, err := LoadSample(objects, r)
			require.NoError(t, err)
			var answers [2][]exchange.Answer
			for i := range answers {
				player := &Player{Transport: http.DefaultTransport, URL: *server, ID: runID()}
				answers[i], err = player.Play(t.Context(), r, sample)
				require.NoError(t, err)
			}
			unsteady := map[string]bool{}
			for _, d := range exchange.Compare(r.File(), answers[0], answers[1]) {
				t.Logf("two runs differ: %s: %s: %s, then %s", d.Step, d.Path, d.Want, d.Got)
				unsteady[d.Step] = true
			}
			require.Less(t, len(unsteady), 10)
			for i := range answers[1] {
				answers[1][i].Unsteady = unsteady[answers[1][i].Step]
			}
			require.NoError(t, exchange.SaveAnswers(recorded, r.File(), answers[1]))
		})
	}
}
