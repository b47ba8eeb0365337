package etcd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// compacted reports whether a revision is compacted.
func compacted(t *testing.T, revision int64) bool {
	t.Helper()
	_, err := shared.Client().Get(t.Context(), "any", clientv3.WithRev(revision))
	if err != nil {
		require.ErrorContains(t, err, "compacted")
	}
	return err != nil
}

func TestOneOfTwoCompactorsWins(t *testing.T) {
	_, err := shared.Client().Delete(t.Context(), compactRevKey)
	require.NoError(t, err)
	write := func() int64 {
		r, err := shared.Client().Put(t.Context(), "/elsewhere", "x")
		require.NoError(t, err)
		return r.Header.Revision
	}
	first, second := &compactor{client: shared.Client()}, &compactor{client: shared.Client()}
	compact := func(c *compactor) {
		t.Helper()
		require.NoError(t, c.compact(t.Context()))
	}
	one := write()
	compact(first)  // wins, and has seen nothing to compact
	compact(second) // learns the time
	assert.False(t, compacted(t, one))
	two := write()
	compact(first) // wins again, and compacts to what it saw first
	assert.True(t, compacted(t, one))
	assert.False(t, compacted(t, two), "the last interval is kept")
	compact(second)
	assert.False(t, compacted(t, two))
	// The first one is gone.
	compact(second)
	assert.True(t, compacted(t, two))
	value, err := shared.Client().Get(t.Context(), compactRevKey)
	require.NoError(t, err)
	assert.EqualValues(t, 3, value.Kvs[0].Version, "one time for each interval")
}

// countingKV counts the transactions of compactors. It must not block, for bubbles.
type countingKV struct {
	clientv3.KV
	at []time.Time
}

type refusedTxn struct{ kv *countingKV }

func (kv *countingKV) Txn(context.Context) clientv3.Txn { return refusedTxn{kv} }
func (t refusedTxn) If(...clientv3.Cmp) clientv3.Txn    { return t }
func (t refusedTxn) Then(...clientv3.Op) clientv3.Txn   { return t }
func (t refusedTxn) Else(...clientv3.Op) clientv3.Txn   { return t }
func (t refusedTxn) Commit() (*clientv3.TxnResponse, error) {
	t.kv.at = append(t.kv.at, time.Now())
	return &clientv3.TxnResponse{
		Header: &etcdserverpb.ResponseHeader{Revision: 1000},
		Responses: []*etcdserverpb.ResponseOp{{Response: &etcdserverpb.ResponseOp_ResponseRange{
			ResponseRange: &etcdserverpb.RangeResponse{},
		}}},
	}, nil
}

func TestCompactionIsEachFiveMinutesAndEachMinuteWhenBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &countingKV{}
		e := newEtcd(&clientv3.Client{KV: kv}, "/", Options{})
		start := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.compact(e.ctx)
		}()
		time.Sleep(10*time.Minute + time.Second)
		e.highest.Store(1000 + busyRevisions + 1)
		time.Sleep(2 * time.Minute)
		e.close()
		<-done
		var minutes []float64
		for _, at := range kv.at {
			minutes = append(minutes, at.Sub(start).Minutes())
		}
		assert.Equal(t, []float64{5, 10, 11, 12}, minutes)
	})
}
