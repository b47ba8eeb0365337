package reference

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gatesFile has the lines of /metrics about feature gates that httpapi/kube compares its table with.
const gatesFile = "../../../../../httpapi/kube/internal/gates/testdata/metrics.txt"

// TestTheGatesAreTheRecordedOnes compares the feature gates of the kube-apiserver that KUBE_APISERVER names, without flags that change
// some, with the recorded ones. -write records them.
func TestTheGatesAreTheRecordedOnes(t *testing.T) {
	binary := os.Getenv("KUBE_APISERVER")
	if binary == "" {
		t.Skip("KUBE_APISERVER names no binary of kube-apiserver")
	}
	server, err := StartPlain(t.Context(), binary)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/metrics", nil)
	require.NoError(t, err)
	resp, err := server.RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	lines := regexp.MustCompile(`(?m)^kubernetes_feature_enabled\{.*$`).FindAllString(string(body), -1)
	slices.Sort(lines)
	text := strings.Join(lines, "\n") + "\n"
	if *writeFlag {
		require.NoError(t, os.WriteFile(gatesFile, []byte(text), 0o644))
	}
	recorded, err := os.ReadFile(gatesFile)
	require.NoError(t, err)
	assert.Equal(t, string(recorded), text)
}
