package main

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every other leader lets go of the Lease when it is drained, and every other
// lets it run out.
func TestThousandTransitions(t *testing.T) {
	const transitions = 1000
	begin, simulated := time.Now(), time.Duration(0)
	synctest.Test(t, func(t *testing.T) {
		x, err := newSite(classic)
		require.NoError(t, err)
		defer x.close()
		start := time.Now()
		leader := ""
		for i := range transitions {
			name := fmt.Sprintf("process-%d", i)
			require.NoError(t, x.start(name, fmt.Sprintf("1.%d.0", i), i%2 == 0))
			if leader != "" {
				require.NoError(t, x.drain(t.Context(), leader))
			}
			late := time.After(x.bound())
			for x.referee.leader() == "" {
				select {
				case <-x.turn:
				case <-late:
					require.Fail(t, "nobody leads")
				}
			}
			leader = x.referee.leader()
			require.Equal(t, name, leader)
		}
		simulated = time.Since(start)
		assert.NoError(t, x.referee.verdict())
		assert.Len(t, x.referee.leaders(), transitions)
	})
	t.Logf("%d transitions, %s of virtual time, took %s", transitions, simulated.Round(time.Second), time.Since(begin).Round(time.Millisecond))
}
