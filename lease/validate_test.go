package lease

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/field"
)

func texts(errs field.Errors) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

// The specs of lease-validation.txt and lease-strategy.txt in httpapi/testdata/wire are not here.
func TestValidate(t *testing.T) {
	strategy := func(s string) *CoordinatedLeaseStrategy { return new(CoordinatedLeaseStrategy(s)) }
	for name, row := range map[string]struct {
		spec LeaseSpec
		want []string
	}{
		"an empty holder": {LeaseSpec{HolderIdentity: new("")}, nil},
		"a strategy that is only a slash": {LeaseSpec{Strategy: strategy("/")}, []string{
			`spec.strategy.strategy: Invalid value: "/": prefix part must be non-empty`,
			`spec.strategy.strategy: Invalid value: "/": name part must be non-empty`,
			`spec.strategy.strategy: Invalid value: "/": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`}},
		"a preferred holder with an empty strategy": {LeaseSpec{PreferredHolder: new("p"), Strategy: strategy("")}, []string{
			`spec.strategy.strategy: Unsupported value: "": supported values: "OldestEmulationVersion"`,
			"spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"}},
		"all at once": {
			LeaseSpec{LeaseDurationSeconds: new(int32(0)), LeaseTransitions: new(int32(-1)), Strategy: strategy("x"), PreferredHolder: new("p")},
			[]string{
				"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
				"spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
				`spec.strategy.strategy: Unsupported value: "x": supported values: "OldestEmulationVersion"`}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, texts(validate(&Lease{Spec: row.spec}, nil)))
			assert.Equal(t, row.want, texts(validate(&Lease{Spec: row.spec}, &Lease{})), "an update has the same rules")
		})
	}
}

func TestValidLeaseCostsNoAllocation(t *testing.T) {
	l := &Lease{Spec: LeaseSpec{
		HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(1)), LeaseTransitions: new(int32(0)),
		Strategy: new(CoordinatedLeaseStrategy("example.com/custom")), PreferredHolder: new("b"),
	}}
	assert.Zero(t, testing.AllocsPerRun(100, func() { validate(l, nil) }))
}
