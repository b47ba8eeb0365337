package reference

import (
	"flag"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
	"github.com/kubecoord/kubecoord/store"
)

// recorded is where the recorded answers are.
const recorded = "../../../../httpapi/testdata/wire"

// TestKubeAPIServerGivesTheRecordedAnswers plays the recorded scenarios to the kube-apiserver that KUBE_APISERVER names,
// and to kubecoord over the network. It fails on each difference that accepted.txt does not accept, and on each stanza
// of it that was not needed. kubecoord must have no difference.
func TestKubeAPIServerGivesTheRecordedAnswers(t *testing.T) {
	binary := os.Getenv("KUBE_APISERVER")
	if binary == "" {
		t.Skip("KUBE_APISERVER names no binary of kube-apiserver")
	}
	goldens := loadGoldens(t)
	accepted, err := ReadAccepted()
	require.NoError(t, err)
	t.Run("kube-apiserver", func(t *testing.T) {
		server, err := Start(t.Context(), binary)
		require.NoError(t, err)
		defer func() { assert.NoError(t, server.Close()) }()
		runner := &wiretest.Runner{Transport: server, BaseURL: server.URL(), Prepare: server.CreateNamespace}
		for _, g := range goldens {
			t.Run(g.Scenario.Name, func(t *testing.T) { play(t, runner, g, accepted) })
		}
		// Failed tests, and tests that -run leaves out, may need the other stanzas.
		if !t.Failed() && flag.Lookup("test.run").Value.String() == "" {
			assert.Empty(t, accepted.Unneeded())
		}
	})
	t.Run("kubecoord", func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{})
		defer api.Close()
		server := httptest.NewServer(api)
		defer server.Close()
		for _, g := range goldens {
			t.Run(g.Scenario.Name, func(t *testing.T) { play(t, &wiretest.Runner{BaseURL: server.URL}, g, nil) })
		}
	})
}

func play(t *testing.T, runner *wiretest.Runner, g wiretest.Golden, accepted Accepted) {
	p, err := Play(t.Context(), runner, g, accepted)
	assert.NoError(t, err)
	for _, d := range p.Differences {
		t.Error(d)
	}
}

func loadGoldens(t *testing.T) []wiretest.Golden {
	t.Helper()
	goldens, err := wiretest.LoadGolden(recorded)
	require.NoError(t, err)
	require.NotEmpty(t, goldens)
	return goldens
}
