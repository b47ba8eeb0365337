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
	dual        = flag.String("dual", "", "URL of one with --service-cluster-ip-range="+dualStackRanges+", likewise")
	otherGated  = flag.String("gates", "", "URL of one with --feature-gates="+otherGates+", likewise")
	withOthers  = flag.String("accounts", "", "URL of one with --enable-admission-plugins=ServiceAccount,NodeRestriction, likewise")
	write       = flag.Bool("write", false, "write the table of differences again")
)

const recorded = "testdata"

// scenarios returns the scenarios for which is true, as a player plays them.
func scenarios(p Player, is func(Scenario) bool) (all []exchange.Scenario) {
	for _, s := range Scenarios() {
		if !is(s) {
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

// The servers that scenarios need.
func needsPlain(s Scenario) bool       { return !s.Controllers && !s.DualStack && !s.Gates && !s.Accounts }
func needsControllers(s Scenario) bool { return s.Controllers }
func needsDualStack(s Scenario) bool   { return s.DualStack }
func needsGates(s Scenario) bool       { return s.Gates }
func needsAccounts(s Scenario) bool    { return s.Accounts }

// TestRecord writes the answers of the servers of -url, -controllers, -dual, -gates and -accounts.
func TestRecord(t *testing.T) {
	if *server == "" && *controllers == "" && *dual == "" && *otherGated == "" && *withOthers == "" {
		t.Skip("records the answers of a kube-apiserver, which -url names")
	}
	for url, is := range map[string]func(Scenario) bool{*server: needsPlain, *controllers: needsControllers, *dual: needsDualStack, *otherGated: needsGates, *withOthers: needsAccounts} {
		if url != "" {
			exchange.Record(t, recorded, scenarios(Player{Transport: http.DefaultTransport, URL: url}, is))
		}
	}
}
