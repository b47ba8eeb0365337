package candidate

import (
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/field"
)

// The fields that more than one rule reports on.
const (
	binaryVersion       = field.Path("spec.binaryVersion")
	emulationVersion    = field.Path("spec.emulationVersion")
	preferredStrategies = field.Path("spec.preferredStrategies")
)

const neededByOldest = "must be specified when `strategy` is 'OldestEmulationVersion'"

// validate checks a candidate by the rules of v1alpha2 and v1beta1
// (upstream: apis/coordination/validation, ValidateLeaseCandidateSpec).
func validate(c, old *LeaseCandidate) field.Errors {
	s := &c.Spec
	_, emulation, errs := validateVersions(s, true)
	switch {
	case s.Strategy == "":
		errs = append(errs, field.Required("spec.strategy", ""))
	case s.Strategy == lease.OldestEmulationVersion && emulation.isZero():
		errs = append(errs, field.Required(emulationVersion, neededByOldest))
	default:
		errs = append(errs, s.Strategy.Validate("spec.strategy")...)
	}
	errs = append(errs, validateList(s)...)
	return append(errs, validateLeaseName(c, old)...)
}

// validateV1alpha1 checks a candidate by the rules of v1alpha1 (upstream:
// the same function in release 1.31).
func validateV1alpha1(c, old *LeaseCandidate) field.Errors {
	s := &c.Spec
	binary, emulation, errs := validateVersions(s, false)
	list := s.strategies()
	if len(list) == 0 {
		errs = append(errs, field.Required(preferredStrategies, "must contain at least one strategy"))
	}
	for i, strategy := range list {
		if strategy == lease.OldestEmulationVersion {
			if binary.isZero() {
				errs = append(errs, field.Required(binaryVersion, neededByOldest))
			}
			if emulation.isZero() {
				errs = append(errs, field.Required(emulationVersion, neededByOldest))
			}
		}
		errs = append(errs, strategy.Validate(preferredStrategies.Index(i))...)
	}
	return append(errs, validateLeaseName(c, old)...)
}

// validateVersions checks the lease name and the versions. It returns and compares a
// version that is absent or not valid as 0.0.0.
func validateVersions(s *LeaseCandidateSpec, binaryRequired bool) (binary, emulation version, errs field.Errors) {
	if s.LeaseName == "" {
		errs = append(errs, field.Required("spec.leaseName", ""))
	}
	if s.EmulationVersion != "" {
		var ok bool
		if emulation, ok = parseVersion(s.EmulationVersion); !ok {
			errs = append(errs, field.Invalid(emulationVersion, s.EmulationVersion, "must be a valid semantic version"))
		}
	}
	if s.BinaryVersion != "" {
		var ok bool
		if binary, ok = parseVersion(s.BinaryVersion); !ok {
			errs = append(errs, field.Invalid(binaryVersion, s.BinaryVersion, "must be a valid semantic version"))
		}
	} else if binaryRequired {
		errs = append(errs, field.Required(binaryVersion, ""))
	}
	if s.BinaryVersion != "" && s.EmulationVersion != "" && binary.compare(emulation) < 0 {
		errs = append(errs, field.Invalid(binaryVersion, s.BinaryVersion, "must be greater than or equal to `emulationVersion`"))
	}
	return binary, emulation, errs
}

// validateList checks the list of v1alpha1 in a write through another version. Only Go
// programs can make such a write, so upstream has no text for the errors.
func validateList(s *LeaseCandidateSpec) (errs field.Errors) {
	for i, strategy := range s.PreferredStrategies {
		if i == 0 {
			if strategy != s.Strategy {
				errs = append(errs, field.Invalid(preferredStrategies.Index(i), strategy, "must be equal to `strategy`"))
			}
			continue
		}
		errs = append(errs, strategy.Validate(preferredStrategies.Index(i))...)
	}
	return errs
}

func validateLeaseName(c, old *LeaseCandidate) field.Errors {
	if old == nil || c.Spec.LeaseName == old.Spec.LeaseName {
		return nil
	}
	return field.Errors{field.Invalid("spec.leaseName", c.Spec.LeaseName, "field is immutable")}
}
