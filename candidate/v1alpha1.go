package candidate

import (
	"reflect"
	"sync"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// LeaseCandidateV1alpha1 is a LeaseCandidate in the shape of v1alpha1, which
// only Kubernetes 1.31 served.
type LeaseCandidateV1alpha1 struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Spec differs from v1beta1 in the strategies alone.
	Spec LeaseCandidateSpecV1alpha1 `json:"spec" protobuf:"2"`
}

// LeaseCandidateSpecV1alpha1 is the content of a LeaseCandidateV1alpha1. Fields
// that say no more here mean what they do in LeaseCandidateSpec.
type LeaseCandidateSpecV1alpha1 struct {
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

// The two shapes, compiled for the sake of their deep copies.
var (
	storedType = sync.OnceValue(func() *codec.Type {
		return codec.Compile(reflect.TypeFor[LeaseCandidate](), "v1beta1")
	})
	v1alpha1Type = sync.OnceValue(func() *codec.Type {
		return codec.Compile(reflect.TypeFor[LeaseCandidateV1alpha1](), "v1alpha1")
	})
)

func toV1alpha1(c *LeaseCandidate) *LeaseCandidateV1alpha1 {
	s := &c.Spec
	return v1alpha1Type().Copy(&LeaseCandidateV1alpha1{
		TypeMeta: c.TypeMeta, ObjectMeta: c.ObjectMeta,
		Spec: LeaseCandidateSpecV1alpha1{
			LeaseName: s.LeaseName, PingTime: s.PingTime, RenewTime: s.RenewTime,
			BinaryVersion: s.BinaryVersion, EmulationVersion: s.EmulationVersion,
			PreferredStrategies: s.strategies(),
		},
	}).(*LeaseCandidateV1alpha1)
}

// fromV1alpha1 keeps a list of one too: prepareForUpdate has to tell it from a
// write that knows of no list.
func fromV1alpha1(w *LeaseCandidateV1alpha1) *LeaseCandidate {
	s := &w.Spec
	c := &LeaseCandidate{
		TypeMeta: w.TypeMeta, ObjectMeta: w.ObjectMeta,
		Spec: LeaseCandidateSpec{
			LeaseName: s.LeaseName, PingTime: s.PingTime, RenewTime: s.RenewTime,
			BinaryVersion: s.BinaryVersion, EmulationVersion: s.EmulationVersion,
			PreferredStrategies: s.PreferredStrategies,
		},
	}
	if len(s.PreferredStrategies) > 0 {
		c.Spec.Strategy = s.PreferredStrategies[0]
	}
	return storedType().Copy(c).(*LeaseCandidate)
}
