package candidate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	simulationSeed = flag.Uint64("simulation.seed", 0, "`seed` of the simulated elections; 0 takes one from the clock")
	simulationRuns = flag.Int("simulation.runs", 6, "how `many` hours of elections are simulated, an hour with a seed of its own each")
)

// Processes of random versions start, crash, are drained, fall mute and come back,
// and so do Coordinators. Some processes are not coordinated. At no time do two processes
// believe that they lead (lead checks that). When all has been quiet for an hour,
// the process leads that the strategy names.
func TestElectionsAtRandom(t *testing.T) {
	seed := *simulationSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for i := range uint64(*simulationRuns) {
		t.Run(fmt.Sprintf("seed=%d", seed+i), func(t *testing.T) {
			in(t, func(t *testing.T) { simulate(t, rand.New(rand.NewPCG(seed+i, 0))) })
		})
	}
}

// bound is the longest time until a healthy candidate leads, after the last failure or
// after a holder was asked to make way; see docs/elections.md. Simulated processes
// read their Lease every 2s.
const bound = 15*time.Second + 5*time.Second + 2*time.Second + time.Second

// lastEvent returns when an event of a type was last logged, or the zero time.
func (w *world) lastEvent(what ElectionEventType) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ev := range slices.Backward(w.events) {
		if ev.Type == what {
			return ev.Time
		}
	}
	return time.Time{}
}

func simulate(t *testing.T, r *rand.Rand) {
	w := newWorld(t, CoordinatorOptions{})
	running := map[string]*process{}
	name := func() string { return fmt.Sprintf("p%d", r.IntN(5)) }
	start := func(name string) {
		if running[name] == nil {
			minor := r.IntN(4)
			running[name] = w.start(offer(name, "1.37.0", fmt.Sprintf("1.%d.0", 34+minor)), func(p *process) {
				p.delay = time.Duration(r.IntN(3)) * time.Second
				p.mute, p.idle, p.plain = r.IntN(10) == 0, r.IntN(10) == 0, r.IntN(5) == 0
			})
		}
	}
	end := func(name string, how func(*process)) {
		if p := running[name]; p != nil {
			how(p)
			delete(running, name)
		}
	}
	for range 60 {
		time.Sleep(time.Duration(r.IntN(60_000)) * time.Millisecond)
		switch r.IntN(6) {
		case 0, 1, 2:
			start(name())
		case 3:
			end(name(), (*process).stop)
		case 4:
			end(name(), (*process).drain)
		case 5:
			w.stop()
			time.Sleep(time.Duration(r.IntN(20_000)) * time.Millisecond)
			w.elect(CoordinatorOptions{})
		}
	}
	// Failures end: unhealthy and plain processes stop, and a healthy one starts.
	for name, p := range running {
		if p.mute || p.idle || p.plain {
			end(name, (*process).stop)
		}
	}
	running["well"] = w.start(offer("well", "1.37.0", "1.37.0"))
	// Candidates that failed before are preferred again after half an hour at most,
	// and each hand-over takes as long as after a failure.
	since := time.Now()
	for end := since.Add(time.Hour); time.Now().Before(end); time.Sleep(time.Second) {
		synctest.Wait()
		if asked := w.lastEvent(Preferred); asked.After(since) {
			since = asked
		}
		if took := time.Since(since); w.leader() == "" && took >= bound {
			require.FailNow(t, "nobody leads", "for %s, want at most %s", took, bound)
		}
	}
	var left []*LeaseCandidate
	for c, err := range w.candidates.All(t.Context(), "ns") {
		require.NoError(t, err)
		left = append(left, c)
	}
	require.Len(t, left, len(running), "the dead are collected")
	assert.Equal(t, OldestEmulationVersion(left).Name, w.leader())
	before, renewals := w.writes(), 1+int(time.Hour/(2*time.Second))+len(running)*13
	time.Sleep(time.Hour)
	assert.LessOrEqual(t, w.writes()-before, renewals, "nothing but renewals")
	for _, p := range running {
		p.stop()
	}
}
