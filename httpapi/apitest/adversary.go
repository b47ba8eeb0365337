package apitest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Adversary chooses faults at random, for some of the requests that match: delays,
// errors, cut connections, torn watches, expired history, stale reads. A real server
// and its network may cause each of them at any time.
//
// The choice for a request depends on the seed, the client, its User-Agent, the verb
// and path, and the number of equal requests before it. It does not depend on other
// clients: a client that sends the same requests meets the same faults.
type Adversary struct {
	// Seed determines the choices. Zero means a random seed; the log of the test
	// shows it.
	Seed uint64
	// Percent is the share of requests to hit. Zero means 10.
	Percent int
	// MaxDelay limits the delays of requests and of watch events. Zero means 1s.
	MaxDelay time.Duration
}

// maxLag is how many changes a chosen replica lags at most.
const maxLag = 5

// withDefaults returns the adversary with its defaults and a seed.
func (adv Adversary) withDefaults() *Adversary {
	for adv.Seed == 0 {
		adv.Seed = rand.Uint64N(1 << 53) // exact in JavaScript too
	}
	adv.Percent = cmp.Or(adv.Percent, 10)
	adv.MaxDelay = cmp.Or(adv.MaxDelay, time.Second)
	return &adv
}

func (f *Fault) validateAdversary() error {
	switch adv := f.Adversary; {
	case len(f.actions()) > 1 || f.First > 0:
		return problem("Adversary", "got it with First or an action, want it alone: it chooses")
	case f.Verb != "":
		return problem("Adversary", "got it with Verb %q, want it for all verbs", f.Verb)
	case adv.Percent < 0 || adv.Percent > 100:
		return problem("Adversary.Percent", "got %d, want 0 to 100", adv.Percent)
	case adv.MaxDelay < 0:
		return problem("Adversary.MaxDelay", "got %v, want 0 or more", adv.MaxDelay)
	}
	return nil
}

// dice makes the choices of an adversary.
type dice struct {
	*Adversary
	seen map[string]uint64 // how many equal requests there were; guarded by api.mu
}

// rollLocked returns the fault that a request meets, or nil.
func (d *dice) rollLocked(r *Request) *Fault {
	same := fmt.Sprint(r.Client, "\n", r.UserAgent, "\n", r.Verb, "\n", r.Path)
	h := fnv.New64a()
	fmt.Fprint(h, same, "\n", d.seen[same])
	d.seen[same]++
	rnd := rand.New(rand.NewPCG(d.Seed, h.Sum64()))
	if rnd.IntN(100) >= d.Percent {
		return nil
	}
	return d.choose(rnd, r)
}

// choose returns one of the faults that such a request may meet.
func (d *dice) choose(rnd *rand.Rand, r *Request) *Fault {
	delay := func() time.Duration { return time.Duration(1 + rnd.Int64N(int64(d.MaxDelay))) }
	tear := func(midFrame bool, s meta.Status) *Fault {
		return &Fault{Tear: &Tear{After: rnd.IntN(5), MidFrame: midFrame, Error: s}}
	}
	choices := []func() *Fault{
		func() *Fault { return &Fault{Delay: delay()} },
		func() *Fault { return &Fault{Answer: meta.Status{Code: http.StatusTooManyRequests}} },
		func() *Fault { return &Fault{Answer: meta.Status{Code: http.StatusInternalServerError}} },
		func() *Fault { return &Fault{Answer: meta.Status{Code: http.StatusServiceUnavailable}} },
		func() *Fault { return &Fault{Answer: meta.Status{Code: http.StatusGatewayTimeout}} },
		func() *Fault { return &Fault{Cut: CutBefore} },
		func() *Fault { return &Fault{Cut: CutBefore, Delay: delay()} },
		func() *Fault { return &Fault{ExpireHistory: true} },
	}
	switch {
	case r.Resource == "":
	case r.Verb == "watch":
		choices = append(choices, func() *Fault { return &Fault{Stale: &Stale{Age: delay()}} })
	case (r.Verb == "get" || r.Verb == "list") && r.Query.Get("resourceVersion") != "":
		choices = append(choices, func() *Fault { return &Fault{Stale: &Stale{Changes: 1 + rnd.IntN(maxLag)}} })
	}
	if r.Verb == "watch" {
		choices = append(choices,
			func() *Fault { return tear(false, meta.Status{}) },
			func() *Fault { return tear(true, meta.Status{}) },
			func() *Fault { return tear(false, meta.Status{Code: http.StatusGone}) },
			func() *Fault { return &Fault{SlowEvents: delay()} },
		)
	} else {
		choices = append(choices,
			func() *Fault { return &Fault{Cut: CutAfter} },
			func() *Fault { return &Fault{Cut: CutAfter, Delay: delay()} },
		)
	}
	return choices[rnd.IntN(len(choices))]()
}
