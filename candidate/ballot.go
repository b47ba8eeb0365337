package candidate

import (
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// ballot is the outcome of an election.
type ballot struct {
	strategy lease.CoordinatedLeaseStrategy
	holder   string // "" where the strategy is somebody else's
}

// newLease returns the spec of the lease where there is none yet.
func (b ballot) newLease(now meta.MicroTime, seconds int32) lease.LeaseSpec {
	spec := lease.LeaseSpec{Strategy: &b.strategy, LeaseDurationSeconds: &seconds, RenewTime: &now}
	if b.holder != "" {
		spec.HolderIdentity = &b.holder
	}
	return spec
}

// carryOut changes the spec of the lease that there is, and returns what that
// amounts to. A holder whose lease has not run out stays, and is asked to make
// way by preferredHolder; leaseTransitions are left alone (upstream:
// createOrUpdateLease of the control plane's leader election).
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
