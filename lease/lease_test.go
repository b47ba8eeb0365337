package lease

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

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
