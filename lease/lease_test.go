package lease

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// As in discovery, OpenAPI and the keys of a real server.
func TestKindIsThatOfARealServer(t *testing.T) {
	info, all := Kind().Info(), kinds.Of(Kind()).Columns(0)
	assert.Equal(t, []string{"coordination.k8s.io", "Lease", "leases", "lease", "leases"},
		[]string{info.Group, info.Kind, info.Plural, info.Singular, info.StoragePrefix})
	assert.True(t, info.Native)
	var versions, columns []string
	for _, v := range info.Versions {
		versions = append(versions, v.Name, v.Deprecated)
	}
	assert.Equal(t, []string{"v1", ""}, versions)
	for _, c := range all[1 : len(all)-1] {
		columns = append(columns, c.Name, c.Type, c.Description)
	}
	assert.Equal(t, []string{"Holder", "string", "Identity of the holder, empty where there is none."}, columns)
}

func TestStaleUpdateIsAConflict(t *testing.T) {
	leases := In(store.New(store.Options{}))
	first, err := leases.Create(t.Context(), &Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "l"}}, store.CreateOptions{})
	require.NoError(t, err)
	second := *first
	first.Spec.HolderIdentity = new("a")
	_, err = leases.Update(t.Context(), first, store.UpdateOptions{})
	require.NoError(t, err)
	second.Spec.HolderIdentity = new("b")
	_, err = leases.Update(t.Context(), &second, store.UpdateOptions{})
	require.ErrorIs(t, err, store.ErrConflict)
	second.ResourceVersion = ""
	_, err = leases.Update(t.Context(), &second, store.UpdateOptions{})
	require.ErrorIs(t, err, store.ErrInvalid)
}
