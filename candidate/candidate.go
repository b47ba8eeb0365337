// Package candidate is the kind LeaseCandidate of the group
// coordination.k8s.io: an offer to hold a lease, with the versions by which a
// coordinator picks the holder (KEP-4355, coordinated leader election).
//
// In gives the typed view of the candidates in a store. It works on the form of
// v1beta1, which v1alpha2 shares. Over HTTP the kind is served as v1alpha1 too,
// where an ordered list of strategies stands in place of one; see
// LeaseCandidateSpec.PreferredStrategies.
//
// Writers from Go are held to the rules of v1beta1.
//
// # Election
//
// An Elector picks the holders of leases among their candidates, as the
// coordinator inside a real API server does when CoordinatedLeaderElection is
// on. A lease is elected for when it is missing, expired or let go, and when
// another candidate than its holder is the one that the strategy names. All
// candidates without a recent sign of life are pinged; they have PingWindow to
// answer; those who did are chosen from. A lease that is free gets the chosen
// one as its holder, who has LeaseDuration to take it up. A holder whose lease
// has not run out is asked to make way by preferredHolder.
//
// ChooseStrategy and OldestEmulationVersion are the two choices an election
// makes, for whoever wants to know how it would end.
//
// # How soon somebody leads
//
// A healthy candidate answers pings at once and looks at its lease at least
// every P. After the last failure somebody healthy leads within D + PingWindow +
// P, where D is the duration of the lease at that moment: it may have been
// renewed just before its holder failed, one candidate may leave a ping
// unanswered, and the elected one may have looked just before. With the timings
// of client-go and of a control plane that is 15s + 5s + 4.4s.
//
// Where the lease is free at that moment, D is 2 PingWindow + LeaseDuration: a
// candidate that fails counts as present in a round that begins up to PingWindow
// later and takes as long, and has LeaseDuration to take the lease up. If the
// elected one fails before it took the lease up, D is LeaseDuration.
//
// A holder that is asked to make way lets its lease run out, so a hand-over takes
// as long. It is asked only for somebody who has just answered, so no healthy
// holder lets it run out for one that failed before. One that was elected and does
// not lead yet lets LeaseDuration pass too when a better candidate comes in: the
// time counts from there.
//
// # What is out of the ordinary
//
//   - Lease durations count from when the Elector saw the lease change, and
//     signs of life from when it saw renewTime change: no clock is compared with
//     another, so clocks may jump, and differ by less than Validity. Only what an
//     Elector finds when it starts is as old as it says.
//   - A lease without a strategy that names a holder, expired or not, is
//     somebody else's and not touched. To hand it over, set its strategy, clear
//     its holder, or delete it. One without strategy and holder is elected for:
//     so client-go's coordinated electors leave it when they release it.
//   - Candidates whose strategies conflict leave the lease as it is until one of
//     them changes or goes. So does a version that cannot be read: its candidate
//     is never chosen by OldestEmulationVersion.
//   - A candidate that never renewed does not count. One that answers pings it
//     never got, or renews into the future, is as alive as any.
//   - A candidate that failed to answer in time has to answer a ping before it
//     is elected, and others are preferred for a while, longer each time. So they
//     are to one that was elected twice and never took the lease up.
//   - A preferredHolder that cannot be, since its candidate is gone or silent, is
//     cleared, so that the holder goes on.
//   - Nothing is written while all is quiet: there is no regular new election.
//   - leaseTransitions are left alone, as upstream does. What a leader writes is
//     to be fenced by the resourceVersion of its lease.
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
	// changes Strategy: then the list goes. So writers of other versions, who
	// never see it, do no harm. To shorten a list, give what shall remain of it.
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
