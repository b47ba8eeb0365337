package apitest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Adversary makes trouble at random, of the kinds that a real server and its
// network may make at any time: no answer that it gives and nothing that it
// leaves undone is against the rules of the API.
type Adversary struct {
	// Seed decides what happens. Zero means that one is drawn; it is logged
	// where the test fails, to be given here.
	Seed uint64
	// Percent is how many of a hundred requests are hit. Zero means
	// DefaultPercent.
	Percent int
	// MaxDelay is the longest time that a request, or an event of a watch, is
	// held back. Zero means DefaultMaxDelay.
	MaxDelay time.Duration
	// Resource, UserAgent, Client and When say whom it is after, as those of a
	// Fault do.
	Resource, UserAgent, Client string
	When                        func(Request) bool
}

// maxLag is how many changes a replica that answers may be behind.
const maxLag = 5

// Defaults of Adversary.
const (
	DefaultPercent  = 10
	DefaultMaxDelay = time.Second
)

// Adversary puts an adversary in place, behind the faults that are there. What
// it does to a request depends on its seed, on what the request is, on who sends
// it and on how many of the same there were before, but not on what others do
// meanwhile: clients that do the same meet the same again.
func (a *API) Adversary(adv Adversary) *Injected {
	a.t.Helper()
	in, err := a.InjectAdversary(adv)
	if err != nil {
		a.t.Fatalf("%v", err)
	}
	a.t.Cleanup(func() {
		if a.t.Failed() {
			a.t.Logf("apitest.Adversary: give it Seed %d to see the same again", in.dice.seed)
		}
	})
	return in
}

// InjectAdversary is Adversary with an error in place of a test that fails, and
// without a test to log the seed: it is in Injected.String.
func (a *API) InjectAdversary(adv Adversary) (*Injected, error) {
	switch {
	case adv.Percent < 0 || adv.Percent > 100:
		return nil, fmt.Errorf("apitest.Adversary: Percent: got %d, want 0 to 100", adv.Percent)
	case adv.MaxDelay < 0:
		return nil, fmt.Errorf("apitest.Adversary: MaxDelay: got %v, want 0 or more", adv.MaxDelay)
	}
	d := &dice{seed: adv.Seed, percent: adv.Percent, maxDelay: adv.MaxDelay, seen: map[string]uint64{}}
	for d.seed == 0 {
		d.seed = rand.Uint64N(1 << 53) // exact where numbers have no more bits
	}
	if d.percent == 0 {
		d.percent = DefaultPercent
	}
	if d.maxDelay == 0 {
		d.maxDelay = DefaultMaxDelay
	}
	return a.inject(Fault{Resource: adv.Resource, UserAgent: adv.UserAgent, Client: adv.Client, When: adv.When}, d)
}

// Adversary returns the adversary that was put in place, with its defaults and
// the seed that was drawn, and false if it is a Fault.
func (in *Injected) Adversary() (Adversary, bool) {
	if in.dice == nil {
		return Adversary{}, false
	}
	f, d := &in.fault, in.dice
	return Adversary{
		Seed: d.seed, Percent: d.percent, MaxDelay: d.maxDelay,
		Resource: f.Resource, UserAgent: f.UserAgent, Client: f.Client, When: f.When,
	}, true
}

// dice decide what an adversary does.
type dice struct {
	seed     uint64
	percent  int
	maxDelay time.Duration
	seen     map[string]uint64 // how many requests of a kind; guarded by api.mu
}

// String names the seed.
func (d *dice) String() string { return fmt.Sprintf("adversary, %d%%, seed %d", d.percent, d.seed) }

// rollLocked returns what is done to a request, or nil.
func (d *dice) rollLocked(r *Request) *Fault {
	kind := fmt.Sprint(r.Client, "\n", r.UserAgent, "\n", r.Verb, "\n", r.Path)
	h := fnv.New64a()
	fmt.Fprint(h, kind, "\n", d.seen[kind])
	d.seen[kind]++
	rnd := rand.New(rand.NewPCG(d.seed, h.Sum64()))
	if rnd.IntN(100) >= d.percent {
		return nil
	}
	return d.choose(rnd, r)
}

// choose returns one of the faults that such a request may meet.
func (d *dice) choose(rnd *rand.Rand, r *Request) *Fault {
	delay := func() time.Duration { return time.Duration(1 + rnd.Int64N(int64(d.maxDelay))) }
	tear := func(midFrame bool, s meta.Status) *Fault {
		return &Fault{Tear: &Tear{After: rnd.IntN(5), MidFrame: midFrame, Error: s}}
	}
	choices := []func() *Fault{
		func() *Fault { return &Fault{Delay: delay()} },
		func() *Fault { return &Fault{Answer: TooManyRequests(1)} },
		func() *Fault { return &Fault{Answer: InternalError("an adversary")} },
		func() *Fault { return &Fault{Answer: Unavailable()} },
		func() *Fault { return &Fault{Answer: GatewayTimeout()} },
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
			func() *Fault { return tear(false, Expired()) },
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
