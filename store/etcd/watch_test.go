package etcd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Each row is a watch that has all changes up to revision 10.
func TestWhatAResponseOfAWatchSays(t *testing.T) {
	event := func(t mvccpb.Event_EventType, key string, revision int64) *clientv3.Event {
		return &clientv3.Event{Type: t, Kv: &mvccpb.KeyValue{Key: []byte("/p/" + key), Value: []byte("v"), ModRevision: revision}}
	}
	at := func(revision int64, events ...*clientv3.Event) clientv3.WatchResponse {
		return clientv3.WatchResponse{Header: &etcdserverpb.ResponseHeader{Revision: revision}, Events: events}
	}
	a9, a10, a11 := event(mvccpb.PUT, "a", 9), event(mvccpb.PUT, "a", 10), event(mvccpb.PUT, "a", 11)
	b11, gone12 := event(mvccpb.PUT, "b", 11), event(mvccpb.DELETE, "a", 12)
	for name, row := range map[string]struct {
		w         clientv3.WatchResponse
		lines     []string
		reached   uint64
		compacted uint64
		err       error
	}{
		"progress":                       {at(12), []string{"reached"}, 12, 0, nil},
		"progress of a member that lags": {at(9), nil, 10, 0, nil},
		"progress without a change":      {at(10), nil, 10, 0, nil},
		"a change":                       {at(11, a11), []string{"changed a=v"}, 11, 0, nil},
		"two keys in one revision":       {at(11, a11, b11), []string{"changed a=v b=v"}, 11, 0, nil},
		"two revisions":                  {at(12, a11, b11, gone12), []string{"changed a=v b=v", "changed -a"}, 12, 0, nil},
		"what is known already":          {at(11, a9, a10, a11), []string{"changed a=v"}, 11, 0, nil},
		"compacted behind us":            {clientv3.WatchResponse{CompactRevision: 9, Canceled: true}, nil, 10, 10, errNothingLost},
		"compacted up to us":             {clientv3.WatchResponse{CompactRevision: 10, Canceled: true}, nil, 10, 10, errNothingLost},
		"compacted before us":            {clientv3.WatchResponse{CompactRevision: 11, Canceled: true}, nil, 10, 0, rpctypes.ErrCompacted},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRecording()
			f.reached, f.state = 10, map[string]string{}
			r := &reader{etcd: &etcd{prefix: "/p/"}, follower: f, reached: 10}
			assert.Equal(t, row.err, r.receive(row.w))
			assert.Equal(t, row.lines, f.lines)
			assert.Equal(t, row.reached, r.reached)
			assert.Equal(t, row.compacted, r.compacted)
			if row.err == nil {
				assert.EqualValues(t, row.w.Header.Revision, r.highest.Load())
			}
		})
	}
}
