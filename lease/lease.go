package lease

import (
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Lease records a holder, and how long others must respect it (API reference, "Lease
// v1").
type Lease struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Spec is the whole content: a Lease has no status.
	Spec LeaseSpec `json:"spec" protobuf:"2"`
}

// LeaseSpec is the content of a Lease. A nil field is absent; a pointer to a
// zero value is kept and shown.
type LeaseSpec struct {
	// HolderIdentity is the name that the holder gave itself. A pointer to ""
	// means that the last holder released the Lease. Under a Strategy it is the
	// name of the elected LeaseCandidate.
	HolderIdentity *string `json:"holderIdentity,omitempty" protobuf:"1"`
	// LeaseDurationSeconds is how long others must wait after RenewTime, or after
	// they saw it change, before they may take the Lease. At least 1.
	LeaseDurationSeconds *int32 `json:"leaseDurationSeconds,omitempty" protobuf:"2"`
	// AcquireTime is when the current holder took the Lease.
	AcquireTime *meta.MicroTime `json:"acquireTime,omitempty" protobuf:"3"`
	// RenewTime is when the holder last renewed the Lease.
	RenewTime *meta.MicroTime `json:"renewTime,omitempty" protobuf:"4"`
	// LeaseTransitions counts the changes of the holder. At least 0.
	LeaseTransitions *int32 `json:"leaseTransitions,omitempty" protobuf:"5"`
	// Strategy is how a coordinator picks the holder among the LeaseCandidates.
	// Nil means that there is no coordinator.
	Strategy *CoordinatedLeaseStrategy `json:"strategy,omitempty" protobuf:"6"`
	// PreferredHolder is a candidate for which the holder should let the Lease
	// expire. It requires a Strategy.
	PreferredHolder *string `json:"preferredHolder,omitempty" protobuf:"7"`
}

// CoordinatedLeaseStrategy is a way to pick the holder of a Lease among its
// LeaseCandidates. It is OldestEmulationVersion, or the name of a third-party
// strategy: a qualified name with a slash, such as "example.com/newest".
type CoordinatedLeaseStrategy string

// OldestEmulationVersion picks the candidate with the lowest emulationVersion,
// then the lowest binaryVersion, then the earliest creation. Candidates without
// both versions are left out.
const OldestEmulationVersion CoordinatedLeaseStrategy = "OldestEmulationVersion"

// Expired reports whether the Lease may be taken at the given time: it has no
// RenewTime or no duration, or the duration has passed since RenewTime. The
// coordinator of a real control plane uses this rule. It is safe only if all
// clocks agree. Observation does not need that.
func (l *Lease) Expired(now time.Time) bool {
	renewed, seconds := l.Spec.RenewTime, l.Spec.LeaseDurationSeconds
	if renewed == nil || seconds == nil {
		return true
	}
	return renewed.Add(time.Duration(*seconds) * time.Second).Before(now)
}
