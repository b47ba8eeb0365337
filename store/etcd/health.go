package etcd

import (
	"context"
	"errors"
	"fmt"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// healthKey is the key that health checks read, below the prefix. It need not exist.
const healthKey = "health"

// Health reports whether etcd answers a linearizable read, as the checks "etcd" and
// "etcd-readiness" of a real API server do. The context should have a deadline: 2 seconds
// there.
func Health(ctx context.Context, client *clientv3.Client, prefix string) error {
	if _, err := client.Get(ctx, path.Join("/", prefix, healthKey)); err != nil {
		return fmt.Errorf("error getting data from etcd: %w", err)
	}
	return nil
}

// Ready reports whether a store on etcd answers a read without a resourceVersion, and begins
// watches over HTTP. The context should have a deadline.
func Ready(ctx context.Context, st *store.Store) error {
	if err := st.CheckContact(); err != nil {
		return err
	}
	_, err := lease.In(st).Get(ctx, "kube-system", "any")
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
