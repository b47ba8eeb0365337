package etcd

import (
	"context"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// compactRevKey is the key by which all API servers of an etcd agree who compacts. Its
// version is their clock, and its value the revision of the last compaction.
const compactRevKey = "compact_rev_key"

const (
	defaultCompactionInterval = 5 * time.Minute
	// busyInterval is the interval while there are busyRevisions or more within it.
	busyInterval  = time.Minute
	busyRevisions = 100_000
)

// compactor is one of several that compact an etcd. Each interval one of them wins, and
// compacts the versions that were there when it last looked.
type compactor struct {
	client   *clientv3.Client
	time     int64 // the version of compactRevKey when we last looked
	revision int64 // of etcd, then
}

// compact compacts until ctx ends.
func (e *etcd) compact(ctx context.Context) {
	c := &compactor{client: e.client.Client}
	step := min(e.compactEvery, busyInterval)
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	for last := time.Now(); ; {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		busy := e.highest.Load() > uint64(c.revision)+busyRevisions && c.revision > 0
		if !busy && time.Since(last) < e.compactEvery-step/2 {
			continue
		}
		last = time.Now()
		if err := c.compact(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("etcd: no compaction", "error", err)
		}
	}
}

// compact is the protocol of k8s.io/apiserver/pkg/storage/etcd3/compact.go. If nobody has
// compacted since we last looked, we do.
func (c *compactor) compact(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	r, err := c.client.Txn(ctx).
		If(clientv3.Compare(clientv3.Version(compactRevKey), "=", c.time)).
		Then(clientv3.OpPut(compactRevKey, strconv.FormatInt(c.revision, 10))).
		Else(clientv3.OpGet(compactRevKey)).
		Commit()
	if err != nil {
		return err
	}
	seen := c.revision
	c.revision = r.Header.Revision
	if !r.Succeeded {
		kvs := r.Responses[0].GetResponseRange().GetKvs()
		c.time = 0
		if len(kvs) > 0 {
			c.time = kvs[0].Version
		}
		return nil
	}
	c.time++
	if seen == 0 {
		return nil // at the beginning, when nothing has been seen
	}
	if _, err := c.client.Compact(ctx, seen); err != nil {
		return fmt.Errorf("compact to revision %d: %w", seen, err)
	}
	return nil
}
