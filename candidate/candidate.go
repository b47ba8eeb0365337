// Package candidate is the kind LeaseCandidate of the group coordination.k8s.io:
// an offer to hold a Lease, with the versions by which a coordinator picks the
// holder (KEP-4355, coordinated leader election).
//
// In gives the typed view of the candidates in a store, in the form of v1beta1,
// which v1alpha2 shares. Over HTTP the kind is also served as v1alpha1, which has
// an ordered list of strategies; see LeaseCandidateSpec.PreferredStrategies. Writes
// from Go must follow the rules of v1beta1.
//
// # Election
//
// An Elector picks the holders of Leases among their candidates, as the coordinator
// in a real API server does under the feature gate CoordinatedLeaderElection. An
// election begins when a Lease has candidates and is missing, expired or released,
// or when the strategy names another candidate than its holder. The Elector pings
// all candidates without a recent sign of life, and gives them PingWindow to answer.
// It chooses among those that gave a sign of life.
//
// A free Lease gets the chosen candidate as its holder. The candidate has
// LeaseDuration to renew it. If the Lease is still held, the Elector names the
// candidate in preferredHolder, which asks the holder to let the Lease run out.
//
// ChooseStrategy and OldestEmulationVersion are the two choices of an election. They
// can be used without an Elector.
//
// # Leases without a strategy
//
// A Lease without a strategy belongs to electors that are not coordinated, such as
// lease.Contender or client-go's without Coordinated. As soon as it has a candidate,
// the Elector treats it like any other Lease: it sets the strategy, and the holder
// or preferredHolder with it (upstream: leaderelection_controller.go 378-410). That
// is how a component moves from plain to coordinated election, one replica after
// another. Two never lead at once on the way, because a plain elector leads no longer
// than its Lease runs, and the Elector does not change the holder before that.
//
// A plain holder takes no notice of preferredHolder. It leads until it stops or
// cannot renew. client-go removes strategy and preferredHolder at each renewal, a
// Contender keeps them. The Elector puts them back: at once if candidates or holder
// have changed, otherwise after PingWindow, and twice as long each time, up to half
// of Validity. So a plain holder beside candidates costs some ten writes in the first
// hour and four in each further one, and the pings and answers that go with them.
//
// # How soon a candidate leads
//
// A healthy candidate answers pings at once and looks at its Lease at least every P.
// After the last failure a healthy one leads within
//
//	D + PingWindow + P + PingWindow/5
//
// D is the duration of the Lease at that moment: it may have been renewed just before
// its holder failed. PingWindow is for a candidate that leaves a ping unanswered, P
// because the elected one may have looked just before. PingWindow/5 is for arrivals:
// the Elector decides once no new candidate has come for PingWindow/25, so that
// processes which start together are chosen from together. It waits for PingWindow/5
// at most, counted from the first of them, so a stream of new candidates does not
// stall an election. With the timings of client-go and of a control plane the sum is
// 15s + 5s + 4.4s + 1s. A first candidate is elected after 0.2s. All of this is time of
// the store's clock, so a clock.Manual has to be moved for it.
//
// If the Lease is free at that moment, D is 2 PingWindow + LeaseDuration: a
// candidate that fails counts as present in a round that begins up to PingWindow
// later and takes as long, and has LeaseDuration to take the Lease up. If the
// elected one fails before it took the Lease up, D is LeaseDuration.
//
// A hand-over takes as long, because a holder that is asked to make way lets its
// Lease run out. The Elector asks it only for a candidate that gave a sign of life
// just before. If a better candidate comes before the elected one took the Lease up,
// the elected one lets LeaseDuration pass, and the time counts from there.
//
// # Special cases
//
// docs/elections.md compares them with the coordinator of a real API server.
//
//   - Lease durations count from when the Elector saw the Lease change, and
//     signs of life from when it saw renewTime change. No clock is compared with
//     another, so clocks may jump, and may differ by less than Validity. Only objects
//     that the Elector sees for the first time are as old as they say.
//   - Candidates whose strategies conflict leave the Lease as it is until one of
//     them changes or goes.
//   - OldestEmulationVersion never chooses a candidate whose versions cannot be read.
//   - A candidate that never renewed does not count. One that answers pings it
//     never got, or renews into the future, is as alive as any other.
//   - A candidate that failed to answer in time must answer a ping before it is
//     elected, and others are preferred for a while, longer each time. The same
//     holds for one that was elected twice and never took the Lease up.
//   - If the candidate in preferredHolder is gone or silent, preferredHolder is
//     cleared, so that the holder goes on.
//   - If the name of a candidate's Lease is not valid (leaseName A_ is accepted, a
//     Lease named A_ is not), nobody is elected. The Elector logs Failed.
//   - Nothing is written while all is quiet: there is no regular new election.
//   - leaseTransitions are left alone, as upstream does. A leader must fence what
//     it writes by the resourceVersion of its Lease.
package candidate

import (
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// LeaseCandidate is an offer to hold a lease of the same namespace (API
// reference, "LeaseCandidate v1beta1"). Its name may have upper case letters and
// '_', unlike that of most kinds.
type LeaseCandidate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Spec is all that a candidate has: there is no status.
	Spec LeaseCandidateSpec `json:"spec" protobuf:"2"`
}

// LeaseCandidateSpec is the content of a LeaseCandidate.
type LeaseCandidateSpec struct {
	// LeaseName is the lease that the candidate would hold. Required, and
	// cannot be changed. Any name is accepted; under one that no Lease can
	// have, such as "A_", nobody is ever elected.
	LeaseName string `json:"leaseName" protobuf:"1"`
	// PingTime is when the coordinator last asked for a sign of life. The
	// candidate answers by a RenewTime that is later.
	PingTime *meta.MicroTime `json:"pingTime,omitempty" protobuf:"2"`
	// RenewTime is when the candidate last said that it is there. The
	// coordinator takes no notice of candidates that were silent for 30 minutes.
	RenewTime *meta.MicroTime `json:"renewTime,omitempty" protobuf:"3"`
	// BinaryVersion is the version of the candidate's program in the strict
	// form of SemVer 2, without a leading "v": "1.36.0", not "1.36". Required,
	// and not lower than EmulationVersion.
	BinaryVersion string `json:"binaryVersion" protobuf:"4"`
	// EmulationVersion is the version that the program behaves like, in the
	// same form. Required under the strategy OldestEmulationVersion, and then
	// not 0.0.0.
	EmulationVersion string `json:"emulationVersion,omitempty" protobuf:"5"`
	// Strategy is how the candidate wants the holder to be picked. Required.
	// Where candidates disagree, those of the highest BinaryVersion decide.
	Strategy lease.CoordinatedLeaseStrategy `json:"strategy,omitempty" protobuf:"6"`
	// PreferredStrategies is the ordered list that v1alpha1 has in place of
	// Strategy, its first item. It is on the wire in no other version. Empty
	// means the same as a list of just Strategy.
	//
	// An update that leaves the list empty keeps the one there is, unless it
	// changes Strategy: then the list goes. So writers of other versions, which
	// never see the list, do no harm. To shorten a list, write what shall remain.
	PreferredStrategies []lease.CoordinatedLeaseStrategy `json:"-"`
}

// LeaseCandidateList is a list of candidates as it is on the wire.
type LeaseCandidateList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata" protobuf:"1"`
	// Items are in the order of namespace and name.
	Items []LeaseCandidate `json:"items" protobuf:"2"`
}

// strategies returns the ordered list that v1alpha1 shows.
func (s *LeaseCandidateSpec) strategies() []lease.CoordinatedLeaseStrategy {
	if len(s.PreferredStrategies) == 0 && s.Strategy != "" {
		return []lease.CoordinatedLeaseStrategy{s.Strategy}
	}
	return s.PreferredStrategies
}
