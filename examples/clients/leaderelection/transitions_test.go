package main

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
)

// thousand is how often a leader is followed by another.
const thousand = 1000

// ends are the ways in which terms end: leaders let go of the Lease, or they
// crash, and it has to run out.
var ends = []struct {
	name     string
	released func(term int) bool
}{
	{"released", func(int) bool { return true }},
	{"crashed", func(int) bool { return false }},
	{"in turns", func(term int) bool { return term%2 == 0 }},
}

func TestEachOfAThousandTransitionsHasOneLeader(t *testing.T) {
	for _, end := range ends {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				api := apitest.New(t, apitest.Options{Verify: true})
				ref := referee{turns: make(chan string, 1)}
				succeed(t, api, &ref, end.released)
				assert.NoError(t, ref.verdict())
				assert.Equal(t, thousand+1, ref.reigns)
				l, err := lease.In(api.Store()).Get(t.Context(), leaseNamespace, leaseName)
				require.NoError(t, err)
				assert.EqualValues(t, thousand, *l.Spec.LeaseTransitions)
			})
		})
	}
}

// succeed has an elector lead and another one wait, and stops the one that
// leads, a thousand times.
func succeed(t *testing.T, api *apitest.API, ref *referee, released func(term int) bool) {
	stand := func(term int) *elector {
		e, err := startElector(api.Transport(), ref, fmt.Sprintf("elector-%d", term),
			electorOptions{timing: classicTiming, releaseOnCancel: released(term)})
		require.NoError(t, err)
		return e
	}
	leader := stand(0)
	require.Equal(t, leader.identity, <-ref.turns)
	for term := 1; term <= thousand; term++ {
		next := stand(term)
		// It is to have seen that the other one leads: client-go lets go of the
		// Lease before it says so, and it might come in between.
		synctest.Wait()
		leader.stop()
		require.Equal(t, next.identity, <-ref.turns)
		leader = next
	}
	leader.stop()
}
