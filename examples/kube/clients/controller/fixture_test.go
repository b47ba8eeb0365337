package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/fixture"
)

// The fixture is what a controller finds that was away: see testdata/pools.yaml.
func TestControllerTakesOverWhatItFinds(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		web := s.get("web")
		require.Equal(t, "1/1 False", s.state("web").status, "a status stands in a fixture as it does in a dump")
		require.Equal(t, int64(3), web.Generation)
		require.Equal(t, int64(1), s.get("db").Generation)

		s.leader("a")
		assert.Equal(t, state{alive: []string{"10.0.0.1", "10.0.0.2"}, status: "2/2 True", observed: 3}, s.state("web"))
		assert.Equal(t, state{dead: []string{"fd00::1"}, status: "0/1 True", observed: 1}, s.state("db"), "nobody has renewed it for an hour")
		condition := s.get("web").Status.Conditions[0]
		assert.Equal(t, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), condition.LastTransitionTime.UTC(), "it has changed when the controller began")

		time.Sleep(time.Minute)
		assert.Equal(t, "0/2 False", s.state("web").status)
	}, fixture.FS(os.DirFS("testdata")))
}
