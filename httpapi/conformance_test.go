package httpapi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	endpointskind "github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	testengine "github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// The recorded answers come from a real API server: testdata/wire/README.md. testdata/open.txt lists what still differs.
// It can only get shorter: a scenario that differs more, or less, than it says fails.

func TestRecordedAnswersOnFreshStores(t *testing.T) {
	open := loadOpen(t)
	for _, g := range loadGoldens(t) {
		t.Run(g.Scenario.Name, func(t *testing.T) {
			t.Parallel()
			// The bubble makes waiting free, and fails where a goroutine is left behind.
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				s.replay(t, g, open[g.Scenario.Name])
			})
		})
	}
}

func TestRecordedAnswersOnOneStoreThatIsNotEmpty(t *testing.T) {
	goldens, open := loadGoldens(t), loadOpen(t)
	// One after the other, because the order of versions is compared. Bubbles know no subtests.
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for range 2 {
			for _, g := range goldens {
				s.replay(t, g, open[g.Scenario.Name])
			}
		}
	})
}

// The answers of a store on a backend are the same. Its follower is as fast as the writer.
func TestRecordedAnswersOnABackend(t *testing.T) {
	open := loadOpen(t)
	for _, g := range loadGoldens(t) {
		t.Run(g.Scenario.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServerOn(t, testengine.New(1000))
				s.replay(t, g, open[g.Scenario.Name])
			})
		})
	}
}

// newServerOn returns a server whose store is on an engine.
func newServerOn(t testing.TB, e *testengine.Engine) *server {
	t.Helper()
	st, err := registry.Open(registry.Options{}, e, kinds.Of(lease.Kind()), kinds.Of(candidate.Kind()), kinds.Of(endpointskind.Kind()))
	require.NoError(t, err)
	require.NoError(t, st.Loaded(t.Context()))
	s := &server{st: (*store.Store)(st), api: httpapi.New((*store.Store)(st), httpapi.Options{})}
	t.Cleanup(func() {
		s.api.Close()
		st.Close()
	})
	return s
}

func TestOpenNamesOnlyRecordedScenarios(t *testing.T) {
	names := map[string]bool{}
	for _, g := range loadGoldens(t) {
		names[g.Scenario.Name] = true
	}
	for name := range loadOpen(t) {
		assert.True(t, names[name], "testdata/open.txt: no scenario %s", name)
	}
}

// replay runs a scenario, of which so many exchanges are known to differ.
func (s *server) replay(t *testing.T, g wiretest.Golden, open int) {
	t.Helper()
	runner := &wiretest.Runner{Transport: s.api.Transport(), BaseURL: "http://test"}
	res := runner.Check(t.Context(), g)
	switch {
	case res.Different == open:
		return
	case res.Different < open:
		t.Errorf("%s: %d differences are left of %d: lower or remove its line in testdata/open.txt", res.Name, res.Different, open)
	default:
		t.Errorf("%s: %d differences, %d known in testdata/open.txt", res.Name, res.Different, open)
	}
	for _, d := range res.Differences {
		t.Log(d)
	}
}

func loadGoldens(t testing.TB) []wiretest.Golden {
	t.Helper()
	goldens, err := wiretest.LoadGolden("testdata/wire")
	require.NoError(t, err)
	require.NotEmpty(t, goldens)
	return goldens
}

// loadOpen reads how many exchanges of which scenario are known to differ: lines of a name, a number and a reason.
func loadOpen(t testing.TB) map[string]int {
	t.Helper()
	data, err := os.ReadFile("testdata/open.txt")
	require.NoError(t, err)
	open := map[string]int{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var name, reason string
		var count int
		_, err := fmt.Sscanf(line, "%s %d %s", &name, &count, &reason)
		require.NoError(t, err, line)
		require.Positive(t, count, line)
		require.NotContains(t, open, name)
		open[name] = count
	}
	return open
}
