// Package v1alpha1 holds the shape that LeaseCandidates have in the version
// v1alpha1 of their API, which only Kubernetes 1.31 served. Objects in this
// shape are only seen on the wire; package candidate has the form that is
// stored, and the conversion between the two.
package v1alpha1

import (
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// LeaseCandidate is a candidate in the shape of v1alpha1.
type LeaseCandidate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Spec differs from v1beta1 in the strategies alone.
	Spec LeaseCandidateSpec `json:"spec" protobuf:"2"`
}

// LeaseCandidateSpec is the content of a LeaseCandidate. Fields that say no more
// here mean what they do in package candidate.
type LeaseCandidateSpec struct {
	// LeaseName is required and cannot be changed.
	LeaseName string `json:"leaseName" protobuf:"1"`
	// PingTime is when the coordinator last asked for a sign of life.
	PingTime *meta.MicroTime `json:"pingTime,omitempty" protobuf:"2"`
	// RenewTime is when the candidate last said that it is there.
	RenewTime *meta.MicroTime `json:"renewTime,omitempty" protobuf:"3"`
	// BinaryVersion is required only if OldestEmulationVersion is among the
	// strategies.
	BinaryVersion string `json:"binaryVersion,omitempty" protobuf:"4"`
	// EmulationVersion is required only if OldestEmulationVersion is among the
	// strategies.
	EmulationVersion string `json:"emulationVersion,omitempty" protobuf:"5"`
	// PreferredStrategies has at least one item, the most wanted one first. A
	// candidate that wants [Y, X] outvotes one that wants [X]; one that wants
	// [X, Y] and one that wants [Y, X] block each other.
	PreferredStrategies []lease.CoordinatedLeaseStrategy `json:"preferredStrategies,omitempty" protobuf:"6" listType:"atomic"`
}
