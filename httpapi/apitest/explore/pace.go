package explore

import "time"

// pace is how long things take in a run: in virtual time what they take in a cluster, in real time as little as they can.
type pace struct {
	real       bool
	quiet      time.Duration // Options.Quiet, or what it is without it
	afterQuiet time.Duration // how much longer after the last write a rest comes, so that what a controller does at that moment is before it
	afterCrash time.Duration // of a kubelet, before it starts a process again
	lag        time.Duration // of slow-events
	cutOff     time.Duration // of takeover: longer than the usual duration of a Lease
	stale      time.Duration // of stale-restart
	hidden     time.Duration // of collapse: no watch is silent for longer
	downAfter  time.Duration // of down: how long the process is down after the step
	ends       int           // how often a controller may end by itself in one run
	start      time.Duration // for the first request of a program and its first watch, and to come to rest undisturbed
	term       time.Duration // for a program to end after SIGTERM
}

// virtualPace returns the pace of runs in bubbles.
func virtualPace(quiet time.Duration) pace {
	if quiet == 0 {
		quiet = time.Minute
	}
	return pace{
		quiet: quiet, afterQuiet: 1500 * time.Millisecond, afterCrash: 5 * time.Second, lag: 3 * time.Second, cutOff: 45 * time.Second,
		stale: 30 * time.Second, hidden: 30 * time.Second, downAfter: 10 * time.Second, ends: 5,
	}
}

// realPace returns the pace of runs with programs. A quiet of zero is learned from undisturbed runs.
func realPace(quiet time.Duration) pace {
	return pace{
		real: true, quiet: quiet, afterCrash: 50 * time.Millisecond, lag: 500 * time.Millisecond, cutOff: 20 * time.Second,
		stale: time.Second, hidden: 1200 * time.Millisecond, downAfter: 200 * time.Millisecond, ends: 2,
		start: 8 * time.Second, term: 10 * time.Second,
	}
}

// The times of runs with programs, in real time.
const (
	longQuiet  = 2500 * time.Millisecond // of the first undisturbed run, and of runs that repeat a finding, at least
	leastQuiet = time.Second
	glance     = 20 * time.Millisecond
	// So many times the quiet a run that repeats a finding rests, so that a program on a busy machine is not blamed for being slow.
	patientQuiets = 3
	// A rest comes so many times the quiet after the last write at last, though a program goes on to read.
	reading = 3
)

// waitForEnd is how long Run may take to return after its context has ended.
const waitForEnd = time.Minute

// firstQuiet returns how long the first undisturbed runs rest. A program may wait for ten seconds before it goes on; a short search has no time to see that.
func firstQuiet(budget time.Duration) time.Duration {
	return min(max(longQuiet, budget/48), 5*longQuiet)
}

// learnQuiet sets how long nothing is written at a rest from what undisturbed runs did: twice the longest time that one of them waited before it wrote something
// more, or two seconds more than that.
func (x *explorer) learnQuiet(runs ...*life) {
	if !x.pace.real || x.o.Quiet > 0 {
		return
	}
	for _, l := range runs {
		x.gap = max(x.gap, l.gap)
	}
	x.pace.quiet = max(leastQuiet, min(2*x.gap, x.gap+2*time.Second))
}
