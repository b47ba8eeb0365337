package cluster

import (
	"context"
	"flag"
	"net/http"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

var (
	server      = flag.String("url", "", "URL of a kube-apiserver that asks for no credentials: record its answers")
	controllers = flag.String("controllers", "", "URL of one with kube-controller-manager beside it, likewise")
	write       = flag.Bool("write", false, "write the table of differences again")
)

const recorded = "testdata"

// scenarios returns the scenarios that need the controllers, or all others, as a player plays them.
func scenarios(controllers bool, p Player) (all []exchange.Scenario) {
	for _, s := range Scenarios() {
		if s.Controllers != controllers {
			continue
		}
		all = append(all, exchange.Scenario{Name: s.Name, Play: func(ctx context.Context, id string, events map[string]int) ([]exchange.Answer, error) {
			run := p
			run.ID, run.Events, run.Quiet = id, events, 4*time.Second
			return run.Play(ctx, s)
		}})
	}
	return all
}

// TestRecord writes the answers of the servers of -url and -controllers.
func TestRecord(t *testing.T) {
	if *server == "" && *controllers == "" {
		t.Skip("records the answers of a kube-apiserver, which -url names")
	}
	if *server != "" {
		exchange.Record(t, recorded, scenarios(false, Player{Transport: http.DefaultTransport, URL: *server}))
	}
	if *controllers != "" {
		exchange.Record(t, recorded, scenarios(true, Player{Transport: http.DefaultTransport, URL: *controllers}))
	}
}
