package cluster

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

var (
	server      = flag.String("url", "", "URL of a kube-apiserver that asks for no credentials: record its answers")
	controllers = flag.String("controllers", "", "URL of one with kube-controller-manager beside it, likewise")
	write       = flag.Bool("write", false, "write the table of differences again")
)

const recorded = "testdata"

// runID returns the id of a run. None is part of an English word.
func runID() string {
	letter := func() byte { return 'a' + byte(rand.IntN(6)) }
	digit := func() byte { return '0' + byte(rand.IntN(10)) }
	return fmt.Sprintf("%c%c%c%c", letter(), digit(), letter(), digit())
}

// TestRecord writes the answers of the servers of -url and -controllers. It plays each scenario twice, and marks answers that differ.
func TestRecord(t *testing.T) {
	if *server == "" && *controllers == "" {
		t.Skip("records the answers of a kube-apiserver, which -url names")
	}
	for _, s := range Scenarios() {
		url := *server
		if s.Controllers {
			url = *controllers
		}
		if url == "" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			var answers [2][]exchange.Answer
			var err error
			for i := range answers {
				player := &Player{Transport: http.DefaultTransport, URL: url, ID: runID(), Quiet: 4 * time.Second}
				answers[i], err = player.Play(t.Context(), s)
				require.NoError(t, err)
			}
			unsteady := map[string]bool{}
			for _, d := range exchange.Compare(s.Name, answers[0], answers[1]) {
				t.Logf("two runs differ: %s: %s: %s, then %s", d.Step, d.Path, d.Want, d.Got)
				unsteady[d.Step] = true
			}
			for i := range answers[1] {
				answers[1][i].Unsteady = unsteady[answers[1][i].Step]
			}
			require.NoError(t, exchange.SaveAnswers(recorded, s.Name, answers[1]))
		})
	}
}
