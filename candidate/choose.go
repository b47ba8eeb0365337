package candidate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubecoord/kubecoord/lease"
)

// ErrConflictingStrategies is what ChooseStrategy returns for candidates that
// contradict each other. Until one of them changes or goes, nobody can be elected.
var ErrConflictingStrategies = errors.New("conflicting strategies")

// ErrNoCandidates is what ChooseStrategy returns if there are no candidates.
var ErrNoCandidates = errors.New("no available candidates")

// A Strategy picks the candidate that shall hold the Lease. It gets at least one
// candidate, sorted by name, and returns one of them, or nil if none is suitable. It
// must return the same for the same candidates, and must not change or keep them.
type Strategy func(candidates []*LeaseCandidate) *LeaseCandidate

// ChooseStrategy returns the strategy by which the holder is to be picked among
// the candidates for one lease.
//
// Candidates of v1beta1 and v1alpha2 name one strategy each: the one with the
// latest binaryVersion decides. Candidates of v1alpha1 have ordered lists. Where
// all have one, the order that agrees with every list decides: [X] and [Y, X]
// give Y, and where all lists begin with X it is X. In a mixture, which no
// release of Kubernetes allows, the first of a list stands for it.
//
// Errors are ErrNoCandidates and ErrConflictingStrategies: two of the same
// latest binaryVersion that differ, or lists without a common order, such as
// [X, Y] and [Y, X]. (Upstream: pickBestStrategy of the control plane's leader
// election, in releases 1.33 and 1.31.)
func ChooseStrategy(candidates []*LeaseCandidate) (lease.CoordinatedLeaseStrategy, error) {
	if len(candidates) == 0 {
		return "", ErrNoCandidates
	}
	if slices.ContainsFunc(candidates, func(c *LeaseCandidate) bool { return len(c.Spec.PreferredStrategies) == 0 }) {
		return strategyOfLatest(candidates)
	}
	return strategyOfLists(candidates)
}

// strategyOfLatest is the rule of v1beta1. An error names the first two that
// conflict, in the order of candidates.
func strategyOfLatest(candidates []*LeaseCandidate) (lease.CoordinatedLeaseStrategy, error) {
	best := candidates[0]
	latest := parseTolerant(best.Spec.BinaryVersion)
	var rival *LeaseCandidate // as late as best, with another strategy
	for _, c := range candidates[1:] {
		v := parseTolerant(c.Spec.BinaryVersion)
		switch d := v.compare(latest); {
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

// strategyOfLists is the rule of v1alpha1: each list orders what it names, all
// of them together must have no circle, and exactly one strategy must come
// before all that it is compared with.
func strategyOfLists(candidates []*LeaseCandidate) (lease.CoordinatedLeaseStrategy, error) {
	type strategy = lease.CoordinatedLeaseStrategy
	after := map[strategy][]strategy{} // what comes right after
	before := map[strategy]int{}       // how many come right before
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
	for ready := slices.Clone(first); len(ready) > 0; left-- {
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
