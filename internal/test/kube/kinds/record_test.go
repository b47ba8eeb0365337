package kinds

import (
	"context"
	"flag"
	"net/http"
	"testing"

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

// scenarios returns the scenario of each resource, for the server at a URL.
func scenarios(transport http.RoundTripper, url string) (all []exchange.Scenario) {
	for _, r := range Resources() {
		all = append(all, exchange.Scenario{Name: r.File(), Play: func(ctx context.Context, id string, events map[string]int) ([]exchange.Answer, error) {
			sample, err := LoadSample(objects, r)
			if err != nil {
				return nil, err
			}
			return (&Player{Transport: transport, URL: url, ID: id, Events: events}).Play(ctx, r, sample)
		}})
	}
	return all
}

// TestRecord writes the answers of the server of -url.
func TestRecord(t *testing.T) {
	if *server == "" {
		t.Skip("records the answers of a kube-apiserver, which -url names")
	}
	exchange.Record(t, recorded, scenarios(http.DefaultTransport, *server))
}
