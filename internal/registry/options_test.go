package registry_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestWriteOptionsAreChecked(t *testing.T) {
	long := strings.Repeat("m", 129)
	for name, row := range map[string]struct {
		opts registry.CreateOptions
		want string
	}{
		"none":                        {registry.CreateOptions{}, ""},
		"all that is allowed":         {registry.CreateOptions{DryRun: []string{"All", "All"}, FieldManager: long[:128], FieldValidation: "Strict"}, ""},
		"validation Ignore":           {registry.CreateOptions{FieldValidation: "Ignore"}, ""},
		"validation Warn":             {registry.CreateOptions{FieldValidation: "Warn"}, ""},
		"another dryRun":              {registry.CreateOptions{DryRun: []string{"Foo"}}, `dryRun: Unsupported value: ["Foo"]: supported values: "All"`},
		"an empty dryRun":             {registry.CreateOptions{DryRun: []string{""}}, `dryRun: Unsupported value: [""]: supported values: "All"`},
		"one dryRun too many":         {registry.CreateOptions{DryRun: []string{"All", "Foo"}}, `dryRun: Unsupported value: ["All","Foo"]: supported values: "All"`},
		"a long fieldManager":         {registry.CreateOptions{FieldManager: long}, "fieldManager: Too long: may not be more than 128 bytes"},
		"an unprintable fieldManager": {registry.CreateOptions{FieldManager: "a\ab"}, `fieldManager: Invalid value: "a\ab": invalid character U+0007 (at position 1)`},
		"another fieldValidation":     {registry.CreateOptions{FieldValidation: "Foo"}, `fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"`},
		"two at once": {registry.CreateOptions{FieldManager: long, FieldValidation: "Foo"},
			`[fieldManager: Too long: may not be more than 128 bytes, fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"]`},
	} {
		t.Run(name, func(t *testing.T) {
			create, update := row.opts.Validate(), registry.UpdateOptions(row.opts).Validate()
			patch := registry.PatchOptions{CreateOptions: row.opts}.Validate(false)
			if row.want == "" {
				require.NoError(t, create)
				require.NoError(t, update)
				require.NoError(t, patch)
				return
			}
			assertStatus(t, create, 422, store.ErrInvalid, `CreateOptions.meta.k8s.io "" is invalid: `+row.want)
			assertStatus(t, update, 422, store.ErrInvalid, `UpdateOptions.meta.k8s.io "" is invalid: `+row.want)
			assertStatus(t, patch, 422, store.ErrInvalid, `PatchOptions.meta.k8s.io "" is invalid: `+row.want)
		})
	}
}

func TestForceIsForApplyAlone(t *testing.T) {
	const invalid = `PatchOptions.meta.k8s.io "" is invalid: `
	force := registry.PatchOptions{Force: new(false)}
	assertStatus(t, force.Validate(false), 422, store.ErrInvalid, invalid+"force: Forbidden: may not be specified for non-apply patch")
	assertStatus(t, force.Validate(true), 422, store.ErrInvalid, invalid+"fieldManager: Required value: is required for apply patch")
	force.FieldManager = "m"
	assert.NoError(t, force.Validate(true))
}

func TestDeleteOptionsAreChecked(t *testing.T) {
	const ignore = "ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with ."
	policy := func(s string) *meta.DeletionPropagation { return new(meta.DeletionPropagation(s)) }
	for name, row := range map[string]struct {
		opts registry.DeleteOptions
		want string
	}{
		"none":            {registry.DeleteOptions{}, ""},
		"another policy":  {registry.DeleteOptions{PropagationPolicy: policy("Foo")}, `propagationPolicy: Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil"`},
		"an empty policy": {registry.DeleteOptions{PropagationPolicy: policy("")}, `propagationPolicy: Unsupported value: "": supported values: "Foreground", "Background", "Orphan", "nil"`},
		"both forms of the policy": {registry.DeleteOptions{PropagationPolicy: policy("Foreground"), OrphanDependents: new(true)},
			`propagationPolicy: Invalid value: "Foreground": orphanDependents and deletionPropagation cannot be both set`},
		"dryRun":                         {registry.DeleteOptions{DryRun: []string{"Foo"}}, `dryRun: Unsupported value: ["Foo"]: supported values: "All"`},
		"unsafe with a policy":           {registry.DeleteOptions{PropagationPolicy: policy("Orphan"), IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, ignore + "propagationPolicy"},
		"unsafe with orphanDependents":   {registry.DeleteOptions{OrphanDependents: new(true), IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, ignore + "orphanDependents"},
		"unsafe with a grace period":     {registry.DeleteOptions{GracePeriodSeconds: new(int64(0)), IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, ignore + "gracePeriodSeconds"},
		"unsafe with preconditions":      {registry.DeleteOptions{Preconditions: &registry.Preconditions{}, IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, ignore + "preconditions"},
		"not unsafe with a grace period": {registry.DeleteOptions{GracePeriodSeconds: new(int64(0)), IgnoreStoreReadErrorWithClusterBreakingPotential: new(false)}, ""},
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
	assert.ErrorContains(t, r.CheckList(registry.ListOptions{ResourceVersionMatch: match, WatchRules: true}), watchRule)
	_, err := r.Watch(t.Context(), registry.WatchOptions{ResourceVersionMatch: match})
	assert.ErrorContains(t, err, watchRule)
	_, err = r.Watch(t.Context(), registry.WatchOptions{ResourceVersionMatch: match, ListRules: true})
	assert.ErrorContains(t, err, listRule)
	_, err = r.Watch(t.Context(), registry.WatchOptions{SendInitialEvents: new(false), ListRules: true})
	assert.ErrorContains(t, err, "sendInitialEvents is forbidden for list")
	w, err := r.Watch(t.Context(), registry.WatchOptions{ResourceVersion: "1000", ResourceVersionMatch: match, ListRules: true})
	require.NoError(t, err)
	w.Close()
}
