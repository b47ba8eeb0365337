package main

import (
	"time"

	"github.com/kubecoord/kubecoord/candidate"
)

// The bounds of a simulation. They hold whatever the faults, and follow from the
// timings alone.
//
// A process whose link is in order again has to get back to where it hears pings.
// client-go's reflector waits for up to 60s between two attempts (back-off of
// 0.8s to 30s and as much again at random: tools/cache/reflector.go). A ping that
// it failed to answer before it answers, if no other comes, when its informer is
// resynced, every 5min (tools/leaderelection/leasecandidate.go). A candidate that
// was collected meanwhile is made anew when its work queue tries again: 1000s at
// most, since it never forgets failures (DefaultTypedControllerRateLimiter).
//
// From when a candidate is healthy, nothing fails any more and no better one comes
// in, a healthy candidate leads within D + W + P + W/5; see docs/elections.md.
// (A better one that comes in before the elected one took the Lease up
// lets it run out unused.) The Lease was renewed just before, and runs for
// D = leaseDuration. One candidate leaves a ping unanswered for W = PingWindow. The
// elected one looks at the Lease after P, 2.2 retryPeriod. Arrivals are waited for
// W/5 at most. Where requests are slow, they take up to delay: the one by which the
// elected one looked before, and the two by which it takes up the Lease. newBounds
// checks that D is not less than 2 PingWindow and the LeaseDuration of the Coordinator,
// for the case that one is elected that is dead already.
//
// Once nothing fails any more, the leader is the best when all are candidates
// again, and after the longest time that others are preferred to one that did not
// answer (Validity), and one hand-over.
type bounds struct {
	lead, recover, remake, settle time.Duration
	// delay is how long a request may take: so little that electors do not lose
	// the Lease for it. A LeaderElector gives up RetryPeriod + RenewDeadline
	// after the last answer, by when the Lease, counted from the first
	// request that led to it, must not have run out, even if it is let go of
	// by two more; and the elected one must manage within the Coordinator's
	// LeaseDuration.
	delay time.Duration
}

const instant = 50 * time.Millisecond // more than the Coordinator's own breath

func newBounds(t timing, o candidate.CoordinatorOptions) bounds {
	delay := min((t.leaseDuration-t.renewDeadline-t.retryPeriod)/5, (o.LeaseDuration-t.patience())/4)
	if delay <= 0 || 2*o.PingWindow+o.LeaseDuration > t.leaseDuration {
		panic("these timings do not go together")
	}
	lead := t.leaseDuration + o.PingWindow + t.patience() + o.PingWindow/5 + 3*delay + instant
	remake := 60*time.Second + 1000*time.Second + 4*delay + instant
	return bounds{
		lead:    lead,
		recover: 60*time.Second + 5*time.Minute + 4*delay + instant,
		remake:  remake,
		settle:  remake + o.Validity + lead,
		delay:   delay,
	}
}
