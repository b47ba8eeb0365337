package candidate

import (
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// ballot is the outcome of an election.
type ballot struct {
	strategy lease.CoordinatedLeaseStrategy
	holder   string // "" if a third party carries out the strategy
}

// newLease returns the spec of a Lease that does not exist yet.
func (b ballot) newLease(now meta.MicroTime, seconds int32) lease.LeaseSpec {
	spec := lease.LeaseSpec{Strategy: &b.strategy, LeaseDurationSeconds: &seconds, RenewTime: &now}
	if b.holder != "" {
		spec.HolderIdentity = &b.holder
	}
	return spec
}

// carryOut changes the spec of an existing Lease, and returns the type of the
// change. If the Lease is not vacant the holder stays, and preferredHolder asks it to
// make way. leaseTransitions are left alone (upstream: leaderelection_controller.go,
// the end of reconcileElectionStep).
func (b ballot) carryOut(spec *lease.LeaseSpec, vacant bool, now meta.MicroTime, seconds int32) ElectionEventType {
	done := nothing
	if spec.Strategy == nil || *spec.Strategy != b.strategy {
		spec.Strategy = &b.strategy
		done = StrategySet
	}
	holder, preferred := "", spec.PreferredHolder
	if spec.HolderIdentity != nil {
		holder = *spec.HolderIdentity
	}
	switch {
	case b.holder == "":
	case vacant:
		spec.HolderIdentity, spec.PreferredHolder, spec.AcquireTime = &b.holder, nil, nil
		spec.LeaseDurationSeconds, spec.RenewTime = &seconds, &now
		return Elected
	case holder == b.holder:
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
