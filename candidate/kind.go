package candidate

import (
	"slices"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store"
)

// kind is compiled once in a process: all stores share it.
//
// Upstream indexes candidates by spec.leaseName but never taught its versions
// to select by it, so that clients are refused; hence no SelectableFields.
var kind = sync.OnceValue(func() *store.Kind[LeaseCandidate] {
	return store.MustKind(store.Descriptor[LeaseCandidate]{
		Group:         "coordination.k8s.io",
		Name:          "LeaseCandidate",
		Native:        true,
		Plural:        "leasecandidates",
		StoragePrefix: "leasecandidates",
		Versions: []store.Version[LeaseCandidate]{
			{
				Name:       "v1beta1",
				Deprecated: "coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+",
			},
			{
				Name:       "v1alpha2",
				Deprecated: "coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+",
			},
			{
				Name:       "v1alpha1",
				Deprecated: "coordination.k8s.io/v1alpha1 LeaseCandidate is deprecated in v1.34+, unavailable in v1.37+",
				Form:       store.FormOf(toV1alpha1, fromV1alpha1),
				Validate:   validateV1alpha1,
			},
		},
		CreateOnUpdate:   true,
		ValidateName:     store.ConfigKeyName,
		Default:          setDefaults,
		PrepareForUpdate: prepareForUpdate,
		Validate:         validate,
		Columns: []store.Column[LeaseCandidate]{
			store.NameColumn[LeaseCandidate](),
			{
				Name: "LeaseName", Type: "string",
				Description: "Name of the lease that the candidate would hold.",
				Cell:        func(c *LeaseCandidate, _ time.Time) any { return c.Spec.LeaseName },
			},
			// Upstream has no descriptions for these two.
			{
				Name: "BinaryVersion", Type: "string",
				Cell: func(c *LeaseCandidate, _ time.Time) any { return c.Spec.BinaryVersion },
			},
			{
				Name: "EmulationVersion", Type: "string",
				Cell: func(c *LeaseCandidate, _ time.Time) any { return c.Spec.EmulationVersion },
			},
			store.AgeColumn[LeaseCandidate](),
		},
	})
})

// Kind returns the kind of candidates.
func Kind() *store.Kind[LeaseCandidate] { return kind() }

// In returns the candidates of a store.
func In(st *store.Store) *store.Collection[LeaseCandidate] { return kind().In(st) }

// setDefaults lets a writer from Go give the list alone.
func setDefaults(c *LeaseCandidate) {
	if s := &c.Spec; s.Strategy == "" && len(s.PreferredStrategies) > 0 {
		s.Strategy = s.PreferredStrategies[0]
	}
}

// prepareForUpdate settles what becomes of the list of v1alpha1. A list that is
// absent, or as it was, belongs to a writer who did not mean to change it.
func prepareForUpdate(c, old *LeaseCandidate) {
	s, was := &c.Spec, &old.Spec
	untouched := len(s.PreferredStrategies) == 0 || slices.Equal(s.PreferredStrategies, was.PreferredStrategies)
	switch {
	case untouched && s.Strategy == was.Strategy:
		s.PreferredStrategies = slices.Clone(was.PreferredStrategies)
	case untouched:
		s.PreferredStrategies = nil
	case s.Strategy == was.Strategy:
		s.Strategy = s.PreferredStrategies[0]
	}
	// Without this, what v1alpha1 shows of a candidate would be a change when
	// it is sent back.
	if len(was.PreferredStrategies) == 0 && len(s.PreferredStrategies) == 1 && s.PreferredStrategies[0] == s.Strategy {
		s.PreferredStrategies = nil
	}
}
