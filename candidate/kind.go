package candidate

import (
	"slices"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/candidate/internal/v1alpha1"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// All stores of a process share the kind. It has no SelectableFields: upstream indexes candidates by
// spec.leaseName, but refuses clients that select by it.
var shared = sync.OnceValue(func() *store.Kind[LeaseCandidate] {
	return store.MustKind(kind.Descriptor[*LeaseCandidate]{
		Resource: kind.Resource{Group: "coordination.k8s.io", Kind: "LeaseCandidate"},
		Native:   &kind.Native[*LeaseCandidate]{StoragePrefix: "leasecandidates"},
		Versions: []kind.Version[*LeaseCandidate]{
			{Name: "v1beta1", Deprecated: "coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+"},
			{Name: "v1alpha2", Deprecated: "coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+"},
			{
				Name:       "v1alpha1",
				Deprecated: "coordination.k8s.io/v1alpha1 LeaseCandidate is deprecated in v1.34+, unavailable in v1.37+",
				Form:       kind.FormOf(toV1alpha1, fromV1alpha1),
				Validate:   validateV1alpha1,
			},
		},
		Strategy: kind.Strategy[*LeaseCandidate]{
			ValidateName: kind.ConfigKeyName, Default: setDefaults, Validate: validate,
			Update: kind.UpdateStrategy[*LeaseCandidate]{CreateMissing: true, Prepare: prepareForUpdate},
		},
		Table: kind.Table[*LeaseCandidate]{Columns: []kind.Column[*LeaseCandidate]{
			kind.NameColumn[*LeaseCandidate](),
			{
				Name: "LeaseName", Type: "string",
				Description: "Name of the lease that the candidate would hold.",
				Cell:        func(c *LeaseCandidate, _ time.Time) any { return c.Spec.LeaseName },
			},
			// Upstream has no descriptions for these two.
			{Name: "BinaryVersion", Type: "string", Cell: func(c *LeaseCandidate, _ time.Time) any { return c.Spec.BinaryVersion }},
			{Name: "EmulationVersion", Type: "string", Cell: func(c *LeaseCandidate, _ time.Time) any { return c.Spec.EmulationVersion }},
			kind.AgeColumn[*LeaseCandidate](),
		}},
	})
})

// Kind returns the kind LeaseCandidate.
func Kind() *store.Kind[LeaseCandidate] { return shared() }

// In returns the candidates of a store.
func In(st *store.Store) *store.Collection[LeaseCandidate] { return shared().In(st) }

// setDefaults lets a Go program set only the list.
func setDefaults(c *LeaseCandidate) {
	if s := &c.Spec; s.Strategy == "" && len(s.PreferredStrategies) > 0 {
		s.Strategy = s.PreferredStrategies[0]
	}
}

// prepareForUpdate keeps the list of v1alpha1 and the strategy consistent. A list that is absent or
// unchanged comes from a writer of another version.
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
	// v1alpha1 shows a candidate without a list as a list of one. Writing that back is no change.
	if len(was.PreferredStrategies) == 0 && len(s.PreferredStrategies) == 1 && s.PreferredStrategies[0] == s.Strategy {
		s.PreferredStrategies = nil
	}
}

func toV1alpha1(c *LeaseCandidate) *v1alpha1.LeaseCandidate {
	w := &v1alpha1.LeaseCandidate{TypeMeta: c.TypeMeta, ObjectMeta: c.ObjectMeta, Spec: v1alpha1.LeaseCandidateSpec(c.Spec)}
	w.Spec.Strategy, w.Spec.PreferredStrategies = "", c.Spec.strategies()
	return w
}

// fromV1alpha1 also keeps a list of one, which shows prepareForUpdate that the writer set it.
func fromV1alpha1(w *v1alpha1.LeaseCandidate) *LeaseCandidate {
	c := &LeaseCandidate{TypeMeta: w.TypeMeta, ObjectMeta: w.ObjectMeta, Spec: LeaseCandidateSpec(w.Spec)}
	c.Spec.Strategy = ""
	if list := c.Spec.PreferredStrategies; len(list) > 0 {
		c.Spec.Strategy = list[0]
	}
	return c
}
