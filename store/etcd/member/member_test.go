package member_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/etcd/member"
)

func TestStart(t *testing.T) {
	dir := t.TempDir()
	m, err := member.Start(t.Context(), dir, member.Options{})
	require.NoError(t, err)
	_, err = m.Client().Put(t.Context(), "a", "b")
	require.NoError(t, err)
	_, err = member.Start(t.Context(), dir, member.Options{})
	require.ErrorContains(t, err, "another process uses it")
	require.NoError(t, m.Close())
	m, err = member.Start(t.Context(), dir, member.Options{})
	require.NoError(t, err)
	r, err := m.Client().Get(t.Context(), "a")
	require.NoError(t, err)
	require.Len(t, r.Kvs, 1)
	require.NoError(t, m.Close())
}
