package candidate

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCandidatesThatArriveTogetherAreComparedTogether(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		for i, emulation := range []string{"1.36.0", "1.35.0", "1.37.0", "1.34.0"} {
			w.create(offer(fmt.Sprintf("c-%d", i), "1.37.0", emulation))
			time.Sleep(50 * time.Millisecond)
		}
		before := w.writes()
		time.Sleep(time.Second)
		assert.Equal(t, 1, w.writes()-before)
		assert.Equal(t, []string{"Elected c-3"}, w.takeEvents(), "nobody is pinged for that")
	})
}

// Candidates keep coming, also at the moment when the Coordinator would decide. It waits
// only for one second after the first one.
func TestStreamOfCandidatesDoesNotDelayTheElection(t *testing.T) {
	for _, every := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 199 * time.Millisecond} {
		t.Run(every.String(), func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newWorld(t, CoordinatorOptions{})
				begin := time.Now()
				for i := 0; time.Since(begin) < 10*time.Second; i++ {
					w.create(offer(fmt.Sprintf("c-%04d", i), "1.37.0", fmt.Sprintf("1.36.%d", 10000-i)))
					synctest.Wait()
					if holder := w.holder(); time.Since(begin) >= time.Second+every {
						require.NotEmpty(t, holder, "after %s", time.Since(begin))
					}
					time.Sleep(every)
				}
				assert.Less(t, len(w.takeEvents(Preferred, Elected)), 15, "a decision a second, and one each time the elected one does not take up the Lease")
			})
		})
	}
}
