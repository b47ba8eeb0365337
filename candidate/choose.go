package candidate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// ErrConflictingStrategies means that the candidates want different strategies, so that nobody can be elected.
var ErrConflictingStrategies = errors.New("conflicting strategies")

// ErrNoCandidates means that ChooseStrategy was called without candidates.
var ErrNoCandidates = errors.New("no available candidates")

// Strategy picks the candidate that should hold the Lease. It gets at least one candidate, sorted
// by name, and returns one of them, or nil if none is suitable. It must return the same for the
// same candidates, and must not change or keep them.
type Strategy func(candidates []*LeaseCandidate) *LeaseCandidate

// ChooseStrategy returns the strategy that picks the holder among the candidates for one Lease
// (upstream: pickBestStrategy of the control plane's leader election, in releases 1.33 and 1.31).
//
// A candidate of v1beta1 or v1alpha2 names one strategy; the candidate with the latest
// binaryVersion decides. Two that differ are ErrConflictingStrategies. A candidate of v1alpha1 has
// an ordered list. If all candidates have lists, ChooseStrategy returns the first strategy of the
// order that all lists agree with: [X] and [Y, X] give Y. Lists without such an order, such as
// [X, Y] and [Y, X], are ErrConflictingStrategies. No release of Kubernetes allows a mixture; here
// a list then counts as its first strategy.
func ChooseStrategy(candidates []*LeaseCandidate) (lease.CoordinatedLeaseStrategy, error) {
	if len(candidates) == 0 {
		return "", ErrNoCandidates
	}
	if slices.ContainsFunc(candidates, func(c *LeaseCandidate) bool { return len(c.Spec.PreferredStrategies) == 0 }) {
		return strategyOfLatest(candidates)
	}
	return strategyOfLists(candidates)
}

// strategyOfLatest is the rule of v1beta1. An error names the first two candidates that conflict.
func strategyOfLatest(candidates []*LeaseCandidate) (lease.CoordinatedLeaseStrategy, error) {
	best := candidates[0]
	latest, _ := semver.ParseTolerant(best.Spec.BinaryVersion) // 0.0.0 if it is not valid
	var rival *LeaseCandidate                                  // as late as best, with another strategy
	for _, c := range candidates[1:] {
		v, _ := semver.ParseTolerant(c.Spec.BinaryVersion)
		switch d := v.Compare(latest); {
		case d > 0:
			best, latest, rival = c, v, nil
		case d == 0 && rival == nil && c.Spec.Strategy != best.Spec.Strategy:
			rival = c
		}
	}
	if rival != nil {
		return "", fmt.Errorf("%w: candidates %q, %q at same binary version but received differing strategies %s, %s",
			ErrConflictingStrategies, best.Name, rival.Name, best.Spec.Strategy, rival.Spec.Strategy)
	}
	return best.Spec.Strategy, nil
}

// strategyOfLists is the rule of v1alpha1, a topological sort: the lists together must have no
// cycle, and exactly one strategy must have no predecessor.
func strategyOfLists(candidates []*LeaseCandidate) (lease.CoordinatedLeaseStrategy, error) {
	type strategy = lease.CoordinatedLeaseStrategy
	after := map[strategy][]strategy{} // direct successors
	before := map[strategy]int{}       // number of direct predecessors
	for _, c := range candidates {
		list := c.Spec.PreferredStrategies
		for i, s := range list {
			before[s] += 0
			if i > 0 {
				after[list[i-1]] = append(after[list[i-1]], s)
				before[s]++
			}
		}
	}
	var first []strategy
	for s, n := range before {
		if n == 0 {
			first = append(first, s)
		}
	}
	if len(first) != 1 {
		slices.Sort(first)
		return "", fmt.Errorf("%w: invalid strategy: of the lists in preferredStrategies exactly one strategy must come first, not %q",
			ErrConflictingStrategies, first)
	}
	left := len(before)
	for ready := first; len(ready) > 0; left-- {
		next := after[ready[0]]
		ready = ready[1:]
		for _, s := range next {
			if before[s]--; before[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	if left > 0 {
		return "", fmt.Errorf("%w: invalid strategy: the lists in preferredStrategies contradict each other", ErrConflictingStrategies)
	}
	return first[0], nil
}

// OldestEmulationVersion is the Strategy of the same name. It returns the candidate with the lowest
// emulationVersion, then the lowest binaryVersion, then the earliest creation in whole seconds,
// then the first name, or nil if none has two valid versions. (Upstream:
// pickBestLeaderOldestEmulationVersion, where the order of a map decides last.)
func OldestEmulationVersion(candidates []*LeaseCandidate) *LeaseCandidate {
	var best *LeaseCandidate
	var bestEmulation, bestBinary semver.Version
	for _, c := range candidates {
		emulation, err := semver.ParseTolerant(c.Spec.EmulationVersion)
		binary, err2 := semver.ParseTolerant(c.Spec.BinaryVersion)
		if err != nil || err2 != nil {
			continue
		}
		if best == nil || cmp.Or(
			emulation.Compare(bestEmulation), binary.Compare(bestBinary),
			cmp.Compare(c.CreationTimestamp.Unix(), best.CreationTimestamp.Unix()), strings.Compare(c.Name, best.Name),
		) < 0 {
			best, bestEmulation, bestBinary = c, emulation, binary
		}
	}
	return best
}

// ballot is the outcome of an election.
type ballot struct {
	strategy lease.CoordinatedLeaseStrategy
	holder   string // "" if a third party carries out the strategy
}

// carryOut changes the spec of a Lease, and returns the type of the change, or "". If the Lease is
// not vacant the holder stays, and preferredHolder asks it to make way; a nil ballot takes that
// back (upstream: leaderelection_controller.go, the end of reconcileElectionStep).
func (b *ballot) carryOut(spec *lease.LeaseSpec, vacant bool, now meta.MicroTime, seconds int32) (done ElectionEventType) {
	if b != nil && (spec.Strategy == nil || *spec.Strategy != b.strategy) {
		spec.Strategy = &b.strategy
		done = StrategySet
	}
	switch preferred := spec.PreferredHolder; {
	case b != nil && b.holder == "":
	case b != nil && vacant:
		spec.HolderIdentity, spec.PreferredHolder, spec.AcquireTime = &b.holder, nil, nil
		spec.LeaseDurationSeconds, spec.RenewTime = &seconds, &now
		return Elected
	case b == nil || spec.HolderIdentity != nil && *spec.HolderIdentity == b.holder:
		if preferred != nil {
			spec.PreferredHolder = nil
			return PreferenceCleared
		}
	case preferred == nil || *preferred != b.holder:
		spec.PreferredHolder = &b.holder
		return Preferred
	}
	return done
}
