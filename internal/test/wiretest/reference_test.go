package wiretest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReference replays the recorded answers against the server that the environment names, which should be a real API
// server: it shows that the recordings and this engine are right, not that anything here is.
//
//	KUBECOORD_REFERENCE=http://127.0.0.1:8099 go test ./internal/test/wiretest -run Reference -v
//
// It takes about a minute, because real time is waited for, and nothing else may write to the server meanwhile. A real clock
// can part scenarios about managed fields (seen: lease-managed-fields, one run in about a hundred): entries are ordered by
// their second first, so they come in another order when a second begins between two writes. Run such a one again.
func TestReference(t *testing.T) {
	server := os.Getenv("KUBECOORD_REFERENCE")
	if server == "" {
		t.Skip("KUBECOORD_REFERENCE names no server")
	}
	goldens, err := LoadGolden(recorded)
	require.NoError(t, err)
	runner := &Runner{BaseURL: server}
	exchanges, different := 0, 0
	for _, g := range goldens {
		t.Run(g.Scenario.Name, func(t *testing.T) {
			res := runner.Check(t.Context(), g)
			for _, d := range res.Differences {
				t.Error(d)
			}
			exchanges += res.Exchanges
			different += res.Different
		})
	}
	t.Logf("%d scenarios, %d exchanges, %d identical, %d different", len(goldens), exchanges, exchanges-different, different)
}
