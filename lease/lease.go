package lease

import (
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Lease is a record of who holds something for how long (API reference,
// "Lease v1").
type Lease struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Spec is all that a lease has: there is no status.
	Spec LeaseSpec `json:"spec" protobuf:"2"`
}

// LeaseSpec is the content of a Lease. A nil field is absent; a pointer to a
// zero value is kept and shown.
type LeaseSpec struct {
	// HolderIdentity names the holder in the holders' own words. A pointer to
	// "" says that the last one let go. Under a Strategy it is the name of the
	// elected LeaseCandidate.
	HolderIdentity *string `json:"holderIdentity,omitempty" protobuf:"1"`
	// LeaseDurationSeconds is how long others have to wait after RenewTime, or
	// after they saw it change, before they may take the lease. At least 1.
	LeaseDurationSeconds *int32 `json:"leaseDurationSeconds,omitempty" protobuf:"2"`
	// AcquireTime is when the present holder got the lease.
	AcquireTime *meta.MicroTime `json:"acquireTime,omitempty" protobuf:"3"`
	// RenewTime is when the holder last confirmed that it is still there.
	RenewTime *meta.MicroTime `json:"renewTime,omitempty" protobuf:"4"`
	// LeaseTransitions counts how often the lease went from one holder to
	// another. At least 0.
	LeaseTransitions *int32 `json:"leaseTransitions,omitempty" protobuf:"5"`
	// Strategy is how a coordinator picks the holder among the
	// LeaseCandidates. Nil means that the holders settle it between them.
	Strategy *CoordinatedLeaseStrategy `json:"strategy,omitempty" protobuf:"6"`
	// PreferredHolder asks the holder to let the lease expire in favour of
	// another one. It needs a Strategy.
	PreferredHolder *string `json:"preferredHolder,omitempty" protobuf:"7"`
}

// CoordinatedLeaseStrategy is a way to pick the holder of a lease among its
// LeaseCandidates. It is OldestEmulationVersion, or the name of a strategy that
// is somebody else's: a qualified name with a slash, such as
// "example.com/newest".
type CoordinatedLeaseStrategy string

// OldestEmulationVersion picks the candidate with the lowest emulationVersion,
// among equals the one with the lowest binaryVersion, and then the one that was
// created first. Candidates without both versions are left out.
const OldestEmulationVersion CoordinatedLeaseStrategy = "OldestEmulationVersion"

// LeaseList is a list of leases as it is on the wire.
type LeaseList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata" protobuf:"1"`
	// Items are in the order of namespace and name.
	Items []Lease `json:"items" protobuf:"2"`
}

// Expired reports whether the lease is free to be taken at the given time: it
// was never renewed, has no duration, or its duration has passed since
// RenewTime. This is how the coordinator of a real control plane judges, by its
// own clock. Electors that do not trust clocks measure the duration from the
// moment they saw RenewTime change, and do not need this method.
func (l *Lease) Expired(now time.Time) bool {
	renewed, seconds := l.Spec.RenewTime, l.Spec.LeaseDurationSeconds
	if renewed == nil || seconds == nil {
		return true
	}
	return renewed.Add(time.Duration(*seconds) * time.Second).Before(now)
}
