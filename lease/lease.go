package lease

import (
	"strings"
	"sync"
	"time"

	rules "github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
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

// LeaseSpec is the content of a Lease. A nil field is absent; a pointer to a zero value is kept.
type LeaseSpec struct {
	// HolderIdentity is the name that the holder gave itself; a pointer to "" after a release.
	// Under a Strategy it is the name of the elected LeaseCandidate.
	HolderIdentity *string `json:"holderIdentity,omitempty" protobuf:"1"`
	// LeaseDurationSeconds is how long others must wait after RenewTime, or after they saw it
	// change, before they may take the Lease. At least 1.
	LeaseDurationSeconds *int32 `json:"leaseDurationSeconds,omitempty" protobuf:"2"`
	// AcquireTime is when the current holder took the Lease.
	AcquireTime *meta.MicroTime `json:"acquireTime,omitempty" protobuf:"3"`
	// RenewTime is when the holder last renewed the Lease.
	RenewTime *meta.MicroTime `json:"renewTime,omitempty" protobuf:"4"`
	// LeaseTransitions counts the changes of the holder. At least 0.
	LeaseTransitions *int32 `json:"leaseTransitions,omitempty" protobuf:"5"`
	// Strategy is how a coordinator picks the holder among the LeaseCandidates. Nil without one.
	Strategy *CoordinatedLeaseStrategy `json:"strategy,omitempty" protobuf:"6"`
	// PreferredHolder is a candidate for which the holder should let the Lease expire. It
	// requires a Strategy.
	PreferredHolder *string `json:"preferredHolder,omitempty" protobuf:"7"`
}

// CoordinatedLeaseStrategy is a way to pick the holder of a Lease among its LeaseCandidates:
// OldestEmulationVersion, or a qualified name with a slash, such as "example.com/newest".
type CoordinatedLeaseStrategy string

// OldestEmulationVersion picks the candidate with the lowest emulationVersion, then the lowest
// binaryVersion, then the earliest creation. Candidates without both versions are left out.
const OldestEmulationVersion CoordinatedLeaseStrategy = "OldestEmulationVersion"

// All stores of a process share the kind.
var shared = sync.OnceValue(func() *store.Kind[Lease] {
	return store.MustKind(kind.Descriptor[*Lease]{
		Resource: kind.Resource{Group: "coordination.k8s.io", Kind: "Lease"},
		Native:   &kind.Native[*Lease]{StoragePrefix: "leases"},
		Versions: []kind.Version[*Lease]{{Name: "v1"}},
		Strategy: kind.Strategy[*Lease]{Validate: validate, Update: kind.UpdateStrategy[*Lease]{CreateMissing: true}},
		Table: kind.Table[*Lease]{Columns: []kind.Column[*Lease]{
			kind.NameColumn[*Lease](),
			{
				Name: "Holder", Type: "string",
				Description: "Identity of the holder, empty where there is none.",
				Cell:        func(l *Lease, _ time.Time) any { return valueOf(l.Spec.HolderIdentity) },
			},
			kind.AgeColumn[*Lease](),
		}},
	})
})

// Kind returns the kind Lease.
func Kind() *store.Kind[Lease] { return shared() }

// In returns the Leases of a store.
func In(st *store.Store) *store.Collection[Lease] { return shared().In(st) }

// validate checks the spec of a Lease (upstream: apis/coordination/validation, ValidateLeaseSpec).
func validate(l, _ *Lease) (errs field.Errors) {
	s := &l.Spec
	if d := s.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid("spec.leaseDurationSeconds", *d, "must be greater than 0"))
	}
	if n := s.LeaseTransitions; n != nil && *n < 0 {
		errs = append(errs, field.Invalid("spec.leaseTransitions", *n, "must be greater than or equal to 0"))
	}
	if s.Strategy != nil {
		errs = append(errs, s.Strategy.Validate("spec.strategy")...)
	}
	if valueOf(s.PreferredHolder) != "" && valueOf(s.Strategy) == "" {
		errs = append(errs, field.Forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
	}
	return errs
}

// Validate checks the strategy in the field at path: a strategy of Kubernetes, or a qualified name
// with a slash. As in the answers of a real server, errors name the field path.strategy.
func (s CoordinatedLeaseStrategy) Validate(path field.Path) field.Errors {
	if s == OldestEmulationVersion {
		return nil
	}
	if !strings.Contains(string(s), "/") {
		return field.Errors{field.NotSupported(path.Child("strategy"), s, OldestEmulationVersion)}
	}
	problems := rules.QualifiedName(string(s))
	if problems == nil {
		return nil
	}
	return field.InvalidEach(path.Child("strategy"), s, problems)
}
