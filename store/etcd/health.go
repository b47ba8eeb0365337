package etcd

import (
	"context"
	"fmt"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// healthKey is what health checks read, below the prefix. It need not exist.
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
