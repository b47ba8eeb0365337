package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
)

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
