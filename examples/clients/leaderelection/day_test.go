package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Three electors work for a day. Every ten minutes the leader crashes, and
// comes back half a minute later.
func TestElection24Hours(t *testing.T) {
	const (
		day     = 24 * time.Hour
		crashes = int(day / (10 * time.Minute))
	)
	begin := time.Now()
	synctest.Test(t, func(t *testing.T) {
		srv := newServer()
		defer srv.close()
		obs := observe(srv.st)
		defer obs.stop()
		var ref referee
		team, err := newTeam(srv, &ref, 3, electorOptions{timing: classicTiming})
		require.NoError(t, err)
		defer team.stopAll()

		for range crashes {
			time.Sleep(5 * time.Minute)
			leader, err := obs.leader(t.Context(), "")
			require.NoError(t, err)
			team.stop(leader)
			time.Sleep(30 * time.Second)
			name, _, _ := strings.Cut(leader, "_")
			require.NoError(t, team.start(name))
			time.Sleep(4*time.Minute + 30*time.Second)
		}
		team.stopAll()
		terms, err := obs.finish()
		require.NoError(t, err)

		assert.NoError(t, checkTerms(terms), "by the Lease's own clock")
		assert.NoError(t, ref.verdict(), "by what the electors believe")
		require.Len(t, terms, crashes+1)
		checkKills(t, settings{timing: classicTiming}, terms)
		assert.Equal(t, crashes+1, ref.reigns)
		renewals := 0
		for _, term := range terms {
			renewals += term.renewals
		}
		assert.Greater(t, renewals, int(day/(2*time.Second))*9/10)
		t.Logf("%d terms, %d renewals in %s", len(terms), renewals, time.Since(terms[0].from))
	})
	t.Logf("took %s", time.Since(begin).Round(time.Millisecond))
}
