package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLeaderThatReleasesIsFollowedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer()
		defer srv.close()
		obs := observe(srv.st)
		defer obs.stop()
		var ref referee
		team, err := newTeam(srv, &ref, 3, electorOptions{timing: classicTiming, releaseOnCancel: true})
		require.NoError(t, err)
		defer team.stopAll()

		var leaders []string
		leader := ""
		for range 3 {
			leader, err = obs.leader(t.Context(), leader)
			require.NoError(t, err)
			leaders = append(leaders, leader)
			time.Sleep(time.Minute)
			team.stop(leader)
		}
		terms, err := obs.finish()
		require.NoError(t, err)
		require.NoError(t, checkTerms(terms))
		require.NoError(t, ref.verdict())

		require.Len(t, terms, 3)
		for i, got := range terms {
			assert.Equal(t, leaders[i], got.holder)
			assert.Equal(t, released, got.ended)
			assert.Equal(t, got.from.Add(time.Minute), got.until, "the release is when it was stopped")
			if i > 0 {
				assert.Equal(t, acquired, got.began)
				assert.LessOrEqual(t, got.from.Sub(terms[i-1].until), classicTiming.patience(), "nobody waits for the Lease to expire")
			}
		}
	})
}
