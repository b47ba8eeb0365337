package apitest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// AdversaryOptions configures Adversary.
type AdversaryOptions struct {
	// Seed determines the choices. Zero means a random seed, which the log of the test shows.
	Seed uint64
	// Percent is the share of requests to hit. Zero means 10.
	Percent int
	// MaxDelay limits the delays of requests and of watch events. Zero means 1s.
	MaxDelay time.Duration
}

// Adversary chooses effects at random, for some of the requests that match: delays, errors, cut
// connections, torn watches, expired history, stale reads. A real server and its network may cause
// each of them at any time. The choice for a request depends only on the seed, the client (or
// its User-Agent, if it has no name), the verb and path, and the number of equal requests before it: a client that sends
// the same requests meets the same effects.
func Adversary(o AdversaryOptions) Effect {
	drawn := o.Seed == 0
	for o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 53) // exact in JavaScript too
	}
	o.Percent = cmp.Or(o.Percent, 10)
	o.MaxDelay = cmp.Or(o.MaxDelay, time.Second)
	err := checkNumber("Adversary.MaxDelay", o.MaxDelay)
	if o.Percent < 0 || o.Percent > 100 {
		err = problem("Adversary.Percent", "got %d, want 0 to 100", o.Percent)
	}
	return Effect{
		text: fmt.Sprintf("adversary, %d%%, seed %d", o.Percent, o.Seed), err: err,
		start: func(f *Fault) error {
			if drawn {
				f.api.t.Logf("apitest: to repeat this adversary, set Seed to %d", o.Seed)
			}
			return nil
		},
		act: func(m *meeting) bool {
			equal := fmt.Sprint(cmp.Or(m.req.Client, m.req.UserAgent), "\n", m.req.Verb, "\n", m.req.Path)
			h := fnv.New64a()
			fmt.Fprint(h, equal, "\n", m.fault.countMet(equal)-1)
			rnd := rand.New(rand.NewPCG(o.Seed, h.Sum64()))
			if rnd.IntN(100) >= o.Percent {
				return false
			}
			choices := misfortunes(rnd, o.MaxDelay, m.req)
			return choices[rnd.IntN(len(choices))].meet(m)
		},
	}
}

// maxLag is how many changes a chosen replica lags at most.
const maxLag = 5

func misfortunes(rnd *rand.Rand, maxDelay time.Duration, r *Request) []Effect {
	delay := func() time.Duration { return time.Duration(1 + rnd.Int64N(int64(maxDelay))) }
	events := func() int { return rnd.IntN(5) }
	choices := []Effect{
		Delay(delay()), Answer(429), Answer(500), Answer(503), Answer(504),
		CutBefore(), Delay(delay()).Then(CutBefore()), ExpireHistory(),
	}
	if r.Verb == "watch" {
		choices = append(choices, EndWatch(events()), CutWatch(events()), FailWatch(events(), meta.Status{Code: 410}), SlowEvents(delay()))
	} else {
		choices = append(choices, CutAfter(), Delay(delay()).Then(CutAfter()))
	}
	switch {
	case r.Resource == "":
	case r.Verb == "watch":
		choices = append(choices, Stale(StaleOptions{Age: delay()}))
	case (r.Verb == "get" || r.Verb == "list") && r.Query.Get("resourceVersion") != "":
		choices = append(choices, Stale(StaleOptions{Changes: 1 + rnd.IntN(maxLag)}))
	}
	return choices
}
