package lease

import (
	"strings"

	rules "github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store/field"
)

// validate checks the spec of a Lease. Every field may change, so the old state
// does not matter (upstream: apis/coordination/validation, ValidateLeaseSpec).
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
	coordinated := s.Strategy != nil && *s.Strategy != ""
	if h := s.PreferredHolder; h != nil && *h != "" && !coordinated {
		errs = append(errs, field.Forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
	}
	return errs
}

// Validate checks the strategy in the field at path. A name without a slash must be
// a strategy of Kubernetes; a name with a slash must be a qualified name. As in the
// answers of a real server, errors name the field path.strategy.
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
