// Package v1alpha1 has the form of LeaseCandidates in the API version v1alpha1, which
// only Kubernetes 1.31 served. Only the wire shows this form: package candidate stores
// v1beta1 and converts.
package v1alpha1

import (
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// LeaseCandidate is a candidate in the form of v1alpha1.
type LeaseCandidate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Spec differs from v1beta1 only in the strategies.
	Spec LeaseCandidateSpec `json:"spec" protobuf:"2"`
}

// LeaseCandidateSpec is the content of a LeaseCandidate. Fields mean the same as in
// package candidate.
type LeaseCandidateSpec struct {
	LeaseName string          `json:"leaseName" protobuf:"1"`
	PingTime  *meta.MicroTime `json:"pingTime,omitempty" protobuf:"2"`
	RenewTime *meta.MicroTime `json:"renewTime,omitempty" protobuf:"3"`
	// Both versions are required only if OldestEmulationVersion is among the strategies.
	BinaryVersion    string `json:"binaryVersion,omitempty" protobuf:"4"`
	EmulationVersion string `json:"emulationVersion,omitempty" protobuf:"5"`
	// Strategy is only here so that the fields are the fields of v1beta1.
	Strategy lease.CoordinatedLeaseStrategy `json:"-"`
	// PreferredStrategies has at least one item, in the order of preference. [Y, X]
	// outvotes [X]; [X, Y] and [Y, X] conflict.
	PreferredStrategies []lease.CoordinatedLeaseStrategy `json:"preferredStrategies,omitempty" protobuf:"6" listType:"atomic" goPackage:"v1"`
}
