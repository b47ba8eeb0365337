package candidate

import (
	"github.com/blang/semver/v4"

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

// validate checks a candidate by the rules of v1alpha2 and v1beta1 (upstream:
// apis/coordination/validation, ValidateLeaseCandidateSpec).
func validate(c, old *LeaseCandidate) field.Errors {
	s := &c.Spec
	_, emulation, errs := validateVersions(s, true)
	switch {
	case s.Strategy == "":
		errs = append(errs, field.Required("spec.strategy", ""))
	case s.Strategy == lease.OldestEmulationVersion && emulation.EQ(semver.Version{}):
		errs = append(errs, field.Required(emulationVersion, neededByOldest))
	default:
		errs = append(errs, s.Strategy.Validate("spec.strategy")...)
	}
	errs = append(errs, validateList(s)...)
	return append(errs, validateLeaseName(c, old)...)
}

// validateV1alpha1 checks a candidate by the rules of v1alpha1 (upstream: as above, release 1.31).
func validateV1alpha1(c, old *LeaseCandidate) field.Errors {
	s := &c.Spec
	binary, emulation, errs := validateVersions(s, false)
	list := s.strategies()
	if len(list) == 0 {
		errs = append(errs, field.Required(preferredStrategies, "must contain at least one strategy"))
	}
	for i, strategy := range list {
		if strategy == lease.OldestEmulationVersion {
			if binary.EQ(semver.Version{}) {
				errs = append(errs, field.Required(binaryVersion, neededByOldest))
			}
			if emulation.EQ(semver.Version{}) {
				errs = append(errs, field.Required(emulationVersion, neededByOldest))
			}
		}
		errs = append(errs, strategy.Validate(preferredStrategies.Index(i))...)
	}
	return append(errs, validateLeaseName(c, old)...)
}

// validateVersions also checks the lease name. A version that is absent or not valid compares as 0.0.0.
func validateVersions(s *LeaseCandidateSpec, binaryRequired bool) (binary, emulation semver.Version, errs field.Errors) {
	if s.LeaseName == "" {
		errs = append(errs, field.Required("spec.leaseName", ""))
	}
	parse := func(path field.Path, value string) semver.Version {
		v, err := semver.Parse(value)
		if err != nil && value != "" {
			errs = append(errs, field.Invalid(path, value, "must be a valid semantic version"))
		}
		return v
	}
	emulation = parse(emulationVersion, s.EmulationVersion)
	binary = parse(binaryVersion, s.BinaryVersion)
	if s.BinaryVersion == "" && binaryRequired {
		errs = append(errs, field.Required(binaryVersion, ""))
	}
	if s.BinaryVersion != "" && s.EmulationVersion != "" && binary.LT(emulation) {
		errs = append(errs, field.Invalid(binaryVersion, s.BinaryVersion, "must be greater than or equal to `emulationVersion`"))
	}
	return binary, emulation, errs
}

// validateList checks the list of v1alpha1 in a write through another version. Only Go programs can
// make such a write, so upstream has no text for the errors.
func validateList(s *LeaseCandidateSpec) (errs field.Errors) {
	for i, strategy := range s.PreferredStrategies {
		if i > 0 {
			errs = append(errs, strategy.Validate(preferredStrategies.Index(i))...)
		} else if strategy != s.Strategy {
			errs = append(errs, field.Invalid(preferredStrategies.Index(i), strategy, "must be equal to `strategy`"))
		}
	}
	return errs
}

func validateLeaseName(c, old *LeaseCandidate) field.Errors {
	if old == nil || c.Spec.LeaseName == old.Spec.LeaseName {
		return nil
	}
	return field.Errors{field.Invalid("spec.leaseName", c.Spec.LeaseName, "field is immutable")}
}
