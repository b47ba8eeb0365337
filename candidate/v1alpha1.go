package candidate

import "github.com/kubecoord/kubecoord/candidate/v1alpha1"

func toV1alpha1(c *LeaseCandidate) *v1alpha1.LeaseCandidate {
	s := &c.Spec
	return &v1alpha1.LeaseCandidate{
		TypeMeta: c.TypeMeta, ObjectMeta: c.ObjectMeta,
		Spec: v1alpha1.LeaseCandidateSpec{
			LeaseName: s.LeaseName, PingTime: s.PingTime, RenewTime: s.RenewTime,
			BinaryVersion: s.BinaryVersion, EmulationVersion: s.EmulationVersion,
			PreferredStrategies: s.strategies(),
		},
	}
}

// fromV1alpha1 keeps a list of one too: prepareForUpdate has to tell it from a
// write that knows of no list.
func fromV1alpha1(w *v1alpha1.LeaseCandidate) *LeaseCandidate {
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
	return c
}
