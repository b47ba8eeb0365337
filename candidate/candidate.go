// Package candidate is the kind LeaseCandidate of the group coordination.k8s.io. A
// LeaseCandidate offers to hold a Lease. A coordinator picks the holder by the versions in
// the candidates (KEP-4355, coordinated leader election).
//
// In returns the candidates of a store in the form of v1beta1, which v1alpha2 shares. The rules of
// v1beta1 apply to writes through Go. Over HTTP the kind is also served as v1alpha1, with an
// ordered list of strategies; see LeaseCandidateSpec.PreferredStrategies.
//
// # Election
//
// A Coordinator picks the holders of Leases among their candidates, as the coordinator in a real
// API server does under the feature gate CoordinatedLeaderElection. An election begins when a
// Lease has candidates and is missing, expired or released, or when the strategy chooses another
// candidate than its holder. The Coordinator pings all candidates without a recent sign of life,
// gives them PingWindow to answer, and chooses among the candidates that gave a sign of life.
//
// A free Lease gets the chosen candidate as its holder, which must renew it within LeaseDuration.
// If the Lease is still held, the Coordinator writes the name of the candidate into
// preferredHolder, and the holder should let the Lease expire.
//
// A Lease without a strategy belongs to plain electors: lease.Contender, or client-go's without
// Coordinated. As soon as such a Lease has a candidate, the Coordinator treats it like any other.
// So a component can move from plain to coordinated election, one replica after another.
//
// docs/elections.md compares the Coordinator with the coordinator of a real API server, case by
// case, and says how soon a candidate leads. These cases matter to the leaders themselves:
//
//   - The Coordinator compares no two clocks. It counts the duration of a Lease from when its
//     store saw the Lease change, and the age of a sign of life from when it saw renewTime
//     change. So clocks may jump, and may differ by less than a day. It trusts the times
//     in a candidate only when it first sees it, to decide whether to ping it.
//   - As upstream, the Coordinator does not change leaseTransitions. A leader must fence its
//     writes by the resourceVersion of its Lease; see package lease.
package candidate

import (
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// LeaseCandidate is an offer to hold a Lease of the same namespace (API reference,
// "LeaseCandidate v1beta1"). Unlike the names of most kinds, its name may have upper
// case letters and '_'.
type LeaseCandidate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Spec is the whole content: a candidate has no status.
	Spec LeaseCandidateSpec `json:"spec" protobuf:"2"`
}

// LeaseCandidateSpec is the content of a LeaseCandidate.
type LeaseCandidateSpec struct {
	// LeaseName is the Lease that the candidate would hold. It is required and cannot be
	// changed. With a name that no Lease can have, such as "A_", nobody is elected.
	LeaseName string `json:"leaseName" protobuf:"1"`
	// PingTime is when the coordinator last asked for a sign of life. The candidate answers with
	// a later RenewTime.
	PingTime *meta.MicroTime `json:"pingTime,omitempty" protobuf:"2"`
	// RenewTime is the candidate's last sign of life. After CoordinatorOptions.Validity without
	// one, the Coordinator deletes the candidate.
	RenewTime *meta.MicroTime `json:"renewTime,omitempty" protobuf:"3"`
	// BinaryVersion is the version of the candidate's program in the strict form of SemVer 2:
	// "1.36.0", not "v1.36". It is required, and must not be lower than EmulationVersion.
	BinaryVersion string `json:"binaryVersion" protobuf:"4"`
	// EmulationVersion is the version that the program emulates, in the same form. The strategy
	// OldestEmulationVersion requires it, and then it must not be 0.0.0.
	EmulationVersion string `json:"emulationVersion,omitempty" protobuf:"5"`
	// Strategy is the candidate's vote for the way to pick the holder. It is required. The
	// candidates with the highest BinaryVersion decide.
	Strategy lease.CoordinatedLeaseStrategy `json:"strategy,omitempty" protobuf:"6" goPackage:"v1"`
	// PreferredStrategies is the ordered list that v1alpha1 has instead of Strategy, which is
	// its first item. Other versions do not show it. Empty means a list of only Strategy. An
	// update with an empty list keeps the stored list unless it changes Strategy, and then
	// removes it: writers of other versions do not see the list.
	PreferredStrategies []lease.CoordinatedLeaseStrategy `json:"-"`
}

// strategies returns the ordered list that v1alpha1 shows.
func (s *LeaseCandidateSpec) strategies() []lease.CoordinatedLeaseStrategy {
	if len(s.PreferredStrategies) == 0 && s.Strategy != "" {
		return []lease.CoordinatedLeaseStrategy{s.Strategy}
	}
	return s.PreferredStrategies
}
