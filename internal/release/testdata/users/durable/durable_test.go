package mine

import (
	"testing"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestLeaseOutlivesItsProcess(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		m, err := member.Start(t.Context(), dir, member.Options{})
		if err != nil {
			t.Fatal(err)
		}
		st, err := etcd.OpenClient(t.Context(), m.Client(), etcd.DefaultPrefix, etcd.Options{})
		if err != nil {
			t.Fatal(err)
		}
		leases := lease.In(st)
		if _, err = leases.Get(t.Context(), "default", "a"); err != nil {
			_, err = leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		st.Close()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
