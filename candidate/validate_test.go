package candidate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/candidate/internal/v1alpha1"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/field"
)

type strategies = []lease.CoordinatedLeaseStrategy

const oldest = lease.OldestEmulationVersion

func texts(errs field.Errors) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

func valid() LeaseCandidateSpec {
	return LeaseCandidateSpec{LeaseName: "main", BinaryVersion: "1.30.0", EmulationVersion: "1.29.0", Strategy: oldest}
}

const (
	binaryInvalid    = `spec.binaryVersion: Invalid value: "%": must be a valid semantic version`
	emulationInvalid = `spec.emulationVersion: Invalid value: "%": must be a valid semantic version`
	binaryTooLow     = "spec.binaryVersion: Invalid value: \"%\": must be greater than or equal to `emulationVersion`"
	binaryNeeded     = "spec.binaryVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"
	emulationNeeded  = "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"
)

func of(text, value string) string { return strings.ReplaceAll(text, "%", value) }

// The specs of httpapi/testdata/wire/candidate-validation.txt are not here.
func TestValidate(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*LeaseCandidateSpec)
		want   []string
	}{
		"a valid one":                  {func(s *LeaseCandidateSpec) {}, nil},
		"a lease that could not exist": {func(s *LeaseCandidateSpec) { s.LeaseName = "Not a name" }, nil},
		"both versions bad": {func(s *LeaseCandidateSpec) { s.EmulationVersion, s.BinaryVersion = "x", "y" },
			[]string{of(emulationInvalid, "x"), of(binaryInvalid, "y"), emulationNeeded}},
		"emulation version 0.0.0":              {func(s *LeaseCandidateSpec) { s.EmulationVersion = "0.0.0" }, []string{emulationNeeded}},
		"emulation version 0.0.0 with a build": {func(s *LeaseCandidateSpec) { s.EmulationVersion = "0.0.0+b" }, []string{emulationNeeded}},
		"a pre-release of 0.0.0 is a version":  {func(s *LeaseCandidateSpec) { s.EmulationVersion = "0.0.0-a" }, nil},
		"a pre-release of 0.0.0 emulates nothing": {
			func(s *LeaseCandidateSpec) {
				s.Strategy, s.BinaryVersion, s.EmulationVersion = "example.com/x", "0.0.0-a", ""
			}, nil},
		"the first of a list is not checked twice": {
			func(s *LeaseCandidateSpec) { s.Strategy, s.PreferredStrategies = "Other", strategies{"Other"} },
			[]string{`spec.strategy.strategy: Unsupported value: "Other": supported values: "OldestEmulationVersion"`}},
		"a strategy with an empty prefix": {func(s *LeaseCandidateSpec) { s.Strategy = "/x" },
			[]string{`spec.strategy.strategy: Invalid value: "/x": prefix part must be non-empty`}},
		"equal versions": {func(s *LeaseCandidateSpec) { s.BinaryVersion = "1.29.0+b" }, nil},
		"a list that begins with the strategy": {
			func(s *LeaseCandidateSpec) { s.PreferredStrategies = strategies{oldest, "example.com/x"} }, nil},
		"a list that begins with another": {
			func(s *LeaseCandidateSpec) { s.PreferredStrategies = strategies{"example.com/x", oldest} },
			[]string{"spec.preferredStrategies[0]: Invalid value: \"example.com/x\": must be equal to `strategy`"}},
		"a list with an unknown strategy": {
			func(s *LeaseCandidateSpec) { s.PreferredStrategies = strategies{oldest, "Other"} },
			[]string{`spec.preferredStrategies[1].strategy: Unsupported value: "Other": supported values: "OldestEmulationVersion"`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &LeaseCandidate{Spec: valid()}
			row.change(&c.Spec)
			assert.Equal(t, row.want, texts(validate(c, nil)))
		})
	}
}

func TestValidateV1alpha1(t *testing.T) {
	for name, row := range map[string]struct {
		spec v1alpha1.LeaseCandidateSpec
		want []string
	}{
		"an empty spec": {v1alpha1.LeaseCandidateSpec{}, []string{
			"spec.leaseName: Required value",
			"spec.preferredStrategies: Required value: must contain at least one strategy"}},
		"a strategy of somebody else needs no versions": {
			v1alpha1.LeaseCandidateSpec{LeaseName: "main", PreferredStrategies: strategies{"example.com/x"}}, nil},
		"the known strategy needs both": {
			v1alpha1.LeaseCandidateSpec{LeaseName: "main", PreferredStrategies: strategies{oldest}},
			[]string{binaryNeeded, emulationNeeded}},
		"the known strategy in second place needs both": {
			v1alpha1.LeaseCandidateSpec{LeaseName: "main", PreferredStrategies: strategies{"example.com/x", oldest}},
			[]string{binaryNeeded, emulationNeeded}},
		"the known strategy with both": {
			v1alpha1.LeaseCandidateSpec{LeaseName: "main", BinaryVersion: "1.30.0", EmulationVersion: "1.30.0", PreferredStrategies: strategies{oldest}}, nil},
		"bad versions": {
			v1alpha1.LeaseCandidateSpec{LeaseName: "main", BinaryVersion: "1", EmulationVersion: "1.30.0", PreferredStrategies: strategies{"example.com/x"}},
			[]string{of(binaryInvalid, "1"), of(binaryTooLow, "1")}},
		"unknown strategies": {
			v1alpha1.LeaseCandidateSpec{LeaseName: "main", PreferredStrategies: strategies{"A", "example.com/x", ""}},
			[]string{
				`spec.preferredStrategies[0].strategy: Unsupported value: "A": supported values: "OldestEmulationVersion"`,
				`spec.preferredStrategies[2].strategy: Unsupported value: "": supported values: "OldestEmulationVersion"`}},
		"an empty strategy first": {
			v1alpha1.LeaseCandidateSpec{LeaseName: "main", PreferredStrategies: strategies{""}},
			[]string{`spec.preferredStrategies[0].strategy: Unsupported value: "": supported values: "OldestEmulationVersion"`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := fromV1alpha1(&v1alpha1.LeaseCandidate{Spec: row.spec})
			assert.Equal(t, row.want, texts(validateV1alpha1(c, nil)))
		})
	}
}

func TestLeaseNameCannotChange(t *testing.T) {
	old, c := &LeaseCandidate{Spec: valid()}, &LeaseCandidate{Spec: valid()}
	c.Spec.LeaseName = "other"
	immutable := []string{`spec.leaseName: Invalid value: "other": field is immutable`}
	assert.Equal(t, immutable, texts(validate(c, old)))
	assert.Equal(t, immutable, texts(validateV1alpha1(c, old)))

	c.Spec.LeaseName = ""
	assert.Equal(t, []string{"spec.leaseName: Required value", `spec.leaseName: Invalid value: "": field is immutable`}, texts(validate(c, old)))

	c.Spec.LeaseName, c.Spec.Strategy = "other", ""
	assert.Equal(t, []string{"spec.strategy: Required value", immutable[0]}, texts(validate(c, old)), "after the rest of the spec")
}
