package controllerruntime

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// Leaders stop or lose their connection. Two must never lead at once, and all
// requested work must be done.
func TestManagersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{History: 256})
		c := newClient(t, api)
		var team []*replica
		joined := 0
		for len(team) < 3 {
			team = append(team, join(t, api, fmt.Sprint("replica-", joined), released))
			joined++
		}
		for turn := range 16 {
			leader := -1
			for i, r := range team {
				if r.leads() {
					require.Equal(t, -1, leader, "two lead at once")
					leader = i
				}
			}
			require.NotEqual(t, -1, leader, "nobody leads")
			want := fmt.Sprint("turn-", turn)
			toSign(t, c, "a", want)
			settle()
			by, value := signature(t, c, "a")
			assert.Equal(t, theLock(t, c).Labels["replica"]+" "+want, by+" "+value)
			assert.Equal(t, int32(turn), *theLock(t, c).Spec.LeaseTransitions)

			time.Sleep(rand.N(5 * time.Minute))
			old := team[leader]
			if turn%2 == 0 {
				require.NoError(t, old.stop())
			} else {
				old.link.Cut()
				require.ErrorContains(t, old.wait(), "leader election lost")
			}
			for _, r := range team {
				assert.Equal(t, r == old, r.leads(), "no other manager leads before the leader has ended")
			}
			team[leader] = join(t, api, fmt.Sprint("replica-", joined), released)
			joined++
			time.Sleep(time.Minute)
		}
	})
}
