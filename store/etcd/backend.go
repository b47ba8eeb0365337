package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/kubecoord/kubecoord/store/backend"
)

// etcd implements backend.Backend.
type etcd struct {
	client kubernetes.Client
	prefix string // with a slash at the end
	log    *slog.Logger

	// ctx ends with Follow: all that runs in the background runs below it.
	ctx        context.Context
	stop       context.CancelFunc
	background sync.WaitGroup
	closing    func() // after all else

	compactEvery time.Duration // negative: never
	// isKine says that the endpoints are kine. It leaves requests for progress without an
	// answer until the watch has seen a change, so silence says nothing.
	isKine bool

	highest atomic.Uint64 // the highest revision that a linearizable answer had
	asked   chan struct{} // has room for one: somebody waits for progress

	mu      sync.Mutex
	asking  bool
	pending *question // asked as soon as the present one has its answer
}

var _ backend.Backend = (*etcd)(nil)

func newEtcd(client *clientv3.Client, prefix string, o Options) *etcd {
	e := &etcd{
		client: kubernetes.Client{Client: client}, prefix: prefix, log: o.Log,
		compactEvery: o.CompactionInterval, asked: make(chan struct{}, 1), closing: func() {},
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.compactEvery == 0 {
		e.compactEvery = defaultCompactionInterval
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// writeTimeout ends a write whose context has no deadline: the timeout of a request at a
// real API server.
const writeTimeout = 60 * time.Second

// Commit implements backend.Backend. Its transactions have the shapes that a real API
// server sends, because kine knows no others. So a create does not bring what is in its
// way, and that is read.
func (e *etcd) Commit(ctx context.Context, w backend.Write) (backend.Committed, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	for {
		c, err := e.commit(ctx, w)
		if err != nil || c.Done || w.Expect != 0 || c.Have.Version != 0 {
			return c, err
		}
		// The object was deleted between a failed create and its get. Nothing was written.
	}
}

func (e *etcd) commit(ctx context.Context, w backend.Write) (backend.Committed, error) {
	low, key := e.highest.Load(), e.prefix+w.Key
	var succeeded bool
	var revision int64
	var have *mvccpb.KeyValue
	switch {
	case w.Value == nil:
		r, err := e.client.OptimisticDelete(ctx, key, int64(w.Expect), kubernetes.DeleteOptions{GetOnFailure: true})
		if err != nil {
			return backend.Committed{}, err
		}
		succeeded, revision, have = r.Succeeded, r.Revision, r.KV
	default:
		r, err := e.client.OptimisticPut(ctx, key, w.Value, int64(w.Expect), kubernetes.PutOptions{GetOnFailure: w.Expect != 0})
		if err != nil {
			return backend.Committed{}, err
		}
		succeeded, revision, have = r.Succeeded, r.Revision, r.KV
	}
	if err := e.saw(low, revision); err != nil {
		return backend.Committed{}, err
	}
	if succeeded && e.isKine && w.Value != nil {
		return e.confirm(ctx, w)
	}
	if succeeded {
		return backend.Committed{Done: true, Version: uint64(revision)}, nil
	}
	if w.Expect == 0 {
		s, err := e.Get(ctx, w.Key)
		return backend.Committed{Have: s}, err
	}
	return backend.Committed{Have: e.stored(w.Key, have)}, nil
}

// confirm returns the outcome of a write that was done. The answer of kine may have the revision
// of another write that was made at the same time (kine 0.17.5, LogStructured.adjustRevision).
// A client that then changed that revision would overwrite a state that it never saw.
func (e *etcd) confirm(ctx context.Context, w backend.Write) (backend.Committed, error) {
	s, err := e.Get(ctx, w.Key)
	if err == nil && !bytes.Equal(s.Value, w.Value) {
		err = errors.New("etcd: the write was made, but another one came before kine told its revision")
	}
	return backend.Committed{Done: err == nil, Version: s.Version}, err
}

// Get implements backend.Backend.
func (e *etcd) Get(ctx context.Context, key string) (s backend.Stored, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		low := e.highest.Load()
		r, err := e.client.Get(ctx, e.prefix+key, kubernetes.GetOptions{})
		if err != nil {
			return err
		}
		s = e.stored(key, r.KV)
		return e.saw(low, r.Revision)
	})
	return s, err
}

// stored returns the state of a key, which is absent if kv is nil.
func (e *etcd) stored(key string, kv *mvccpb.KeyValue) backend.Stored {
	if kv == nil {
		return backend.Stored{Key: key}
	}
	s := backend.Stored{Key: key, Value: kv.Value, Version: uint64(kv.ModRevision)}
	if s.Value == nil {
		s.Value = []byte{} // an empty value is not an absent one
	}
	return s
}

// saw takes note of the revision of a linearizable answer. The highest revision was low
// when the question was sent, so an answer below says that etcd has forgotten changes.
func (e *etcd) saw(low uint64, revision int64) error {
	v := uint64(revision)
	if v < low {
		return fmt.Errorf("%w: from %d to %d. It was restored from a backup without --bump-revision, or its data "+
			"directory was replaced. Stop all replicas, restore with --bump-revision --mark-compacted, and start them again",
			errWentBack, low, v)
	}
	for {
		highest := e.highest.Load()
		if v <= highest || e.highest.CompareAndSwap(highest, v) {
			return nil
		}
	}
}

var errWentBack = errors.New("etcd: the revision of etcd went back")
