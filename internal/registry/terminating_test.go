package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

// A kind that replaces another one, and a fork, have its definition, which terminates.
func TestNothingIsCreatedOfAKindThatTerminates(t *testing.T) {
	st, old := newStore(t), valves(nil)
	createValves(t, st, old, "ns/a")
	st.SetTerminating(kinds.Of(old), true)
	fork, err := st.Fork()
	require.NoError(t, err)
	t.Cleanup(fork.Close)
	refuses := func(st *registry.Store, kind *store.Kind[valve], dryRun bool) {
		t.Helper()
		_, err := in(st, kind).Create(t.Context(), &valve{ObjectMeta: objectMeta("ns/b")}, store.CreateOptions{DryRun: dryRun})
		assertStatus(t, err, 403, "Forbidden", `valves.example.com "b" is forbidden: create not allowed while custom resource definition is terminating`)
		assert.True(t, st.Terminating(kinds.Of(kind)))
	}
	refuses(st, old, false)
	refuses(st, old, true)
	refuses(fork, old, false)
	next := valves(nil)
	require.NoError(t, st.Register(t.Context(), kinds.Of(next)))
	refuses(st, next, false)
	st.SetTerminating(kinds.Of(next), false)
	createValves(t, st, next, "ns/b")
	refuses(fork, old, false)
}
