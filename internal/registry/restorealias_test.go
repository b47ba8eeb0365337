package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Objects of one kind in two groups are in one collection, also if the store gets it with them.
func TestRestoreOfANewKindInTwoGroups(t *testing.T) {
	k, err := kinds.Compile(kind.Descriptor[*lease.Lease]{
		Resource: kind.Resource{Group: "example.com", Kind: "Slip"},
		Versions: []kind.Version[*lease.Lease]{{Name: "v1"}},
		Native:   &kind.Native[*lease.Lease]{CustomResource: true, Aliases: []kind.Alias[*lease.Lease]{{Group: "other.example.com", Version: kind.Version[*lease.Lease]{Name: "v1"}}}},
	})
	require.NoError(t, err)
	st := registry.New(registry.Options{})
	t.Cleanup(st.Close)
	var all []*registry.Restored
	for name, of := range map[string]*kinds.Kind{"ns/a": k, "ns/b": k.Aliases()[0]} {
		r, err := st.ForRestore(of)
		require.NoError(t, err)
		o, err := r.PrepareRestore(newLease(name), registry.Request{Version: of.OwnVersion()})
		require.NoError(t, err)
		all = append(all, o)
	}
	require.NoError(t, st.Restore(all, 0))
	for _, of := range []*kinds.Kind{k, k.Aliases()[0]} {
		assert.Equal(t, 2, st.Resource(of).Len())
	}
}
