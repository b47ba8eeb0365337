package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestDeleteOptionsAreChecked(t *testing.T) {
	const ignore = "ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with ."
	policy := func(s string) *meta.DeletionPropagation { return new(meta.DeletionPropagation(s)) }
	for name, row := range map[string]struct {
		opts kinds.DeleteOptions
		want string
	}{
		"none":            {kinds.DeleteOptions{}, ""},
		"another policy":  {kinds.DeleteOptions{PropagationPolicy: policy("Foo")}, `propagationPolicy: Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil"`},
		"an empty policy": {kinds.DeleteOptions{PropagationPolicy: policy("")}, `propagationPolicy: Unsupported value: "": supported values: "Foreground", "Background", "Orphan", "nil"`},
		"both forms of the policy": {kinds.DeleteOptions{PropagationPolicy: policy("Foreground"), OrphanDependents: new(true)},
			`propagationPolicy: Invalid value: "Foreground": orphanDependents and deletionPropagation cannot be both set`},
		"dryRun":                         {kinds.DeleteOptions{DryRun: []string{"Foo"}}, `dryRun: Unsupported value: ["Foo"]: supported values: "All"`},
		"unsafe with a policy":           {kinds.DeleteOptions{PropagationPolicy: policy("Orphan"), IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, ignore + "propagationPolicy"},
		"unsafe with orphanDependents":   {kinds.DeleteOptions{OrphanDependents: new(true), IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, ignore + "orphanDependents"},
		"unsafe with a grace period":     {kinds.DeleteOptions{GracePeriodSeconds: new(int64(0)), IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, ignore + "gracePeriodSeconds"},
		"unsafe with preconditions":      {kinds.DeleteOptions{Preconditions: &kinds.Preconditions{}, IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, ignore + "preconditions"},
		"not unsafe with a grace period": {kinds.DeleteOptions{GracePeriodSeconds: new(int64(0)), IgnoreStoreReadErrorWithClusterBreakingPotential: new(false)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			createAll(t, leases, "ns/a")
			_, err := leases.Delete(t.Context(), "ns", "a", row.opts)
			if row.want == "" {
				require.NoError(t, err)
				return
			}
			assertStatus(t, err, 422, store.ErrInvalid, `DeleteOptions.meta.k8s.io "" is invalid: `+row.want)
			mustGet(t, leases, "ns/a")
		})
	}
}

// The deprecated paths of watches use the rules of a list, and the deletion of a collection with
// watch=true the rules of a watch.
func TestRulesOfTheOtherVerb(t *testing.T) {
	r := leaseResource(newStore(t))
	match := registry.MatchExact
	const watchRule = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
	const listRule = "resourceVersionMatch is forbidden unless resourceVersion is provided"
	assert.ErrorContains(t, r.CheckList(registry.ListOptions{ResourceVersionMatch: match}), listRule)
	assert.ErrorContains(t, r.CheckList(registry.ListOptions{ResourceVersionMatch: match, OtherRules: true}), watchRule)
	_, err := r.Watch(t.Context(), registry.ListOptions{ResourceVersionMatch: match})
	assert.ErrorContains(t, err, watchRule)
	_, err = r.Watch(t.Context(), registry.ListOptions{ResourceVersionMatch: match, OtherRules: true})
	assert.ErrorContains(t, err, listRule)
	_, err = r.Watch(t.Context(), registry.ListOptions{SendInitialEvents: new(false), OtherRules: true})
	assert.ErrorContains(t, err, "sendInitialEvents is forbidden for list")
	w, err := r.Watch(t.Context(), registry.ListOptions{ResourceVersion: "1000", ResourceVersionMatch: match, OtherRules: true})
	require.NoError(t, err)
	w.Close()
}
