package etcd_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A store that is durable, without another process. For an etcd elsewhere, use Open.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "kubecoord")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	for _, holder := range []string{"first", "second"} {
		m, err := member.Start(ctx, dir, member.Options{})
		if err != nil {
			log.Fatal(err)
		}
		st, err := etcd.OpenClient(ctx, m.Client(), etcd.DefaultPrefix, etcd.Options{})
		if err != nil {
			log.Fatal(err)
		}
		if l, err := lease.In(st).Get(ctx, "default", "a"); err == nil {
			fmt.Println("the process before was", *l.Spec.HolderIdentity)
		} else if _, err := lease.In(st).Create(ctx, &lease.Lease{
			ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"},
			Spec:       lease.LeaseSpec{HolderIdentity: &holder},
		}, store.CreateOptions{}); err != nil {
			log.Fatal(err)
		}
		fmt.Println("healthy:", etcd.Health(ctx, m.Client(), etcd.DefaultPrefix) == nil)
		st.Close()
		if err := m.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// healthy: true
	// the process before was first
	// healthy: true
}
