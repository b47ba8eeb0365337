package cluster_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/internal/test/exact"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/etcd"
)

// witness reads all changes of etcd from its beginning by one watch, without a replica. It keeps the changes of Leases.
type witness struct {
	ctx    context.Context // of the watch
	client *clientv3.Client

	mu      sync.Mutex
	seen    uint64
	changes []backend.Stored
	err     error
	news    chan struct{} // has room for one
}

// newWitness starts to watch an etcd in which nothing was compacted.
func newWitness(t *testing.T, urls []string) *witness {
	client, err := etcd.Dial(clientv3.Config{Endpoints: urls})
	require.NoError(t, err)
	w := &witness{client: client, news: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	w.ctx = ctx
	var done sync.WaitGroup
	done.Go(w.watch)
	t.Cleanup(func() {
		cancel()
		done.Wait()
		client.Close()
	})
	return w
}

func (w *witness) watch() {
	for r := range w.client.Watch(w.ctx, "/", clientv3.WithPrefix(), clientv3.WithRev(1)) {
		w.mu.Lock()
		if err := r.Err(); err != nil {
			w.err = err
		}
		for _, ev := range r.Events {
			w.add(ev)
		}
		w.mu.Unlock()
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

func (w *witness) add(ev *clientv3.Event) {
	w.seen = uint64(ev.Kv.ModRevision)
	key, ours := strings.CutPrefix(string(ev.Kv.Key), prefix+"/")
	if !ours || !strings.HasPrefix(key, "leases/") {
		return
	}
	s := backend.Stored{Key: key, Version: w.seen}
	if ev.Type == clientv3.EventTypePut {
		s.Value = ev.Kv.Value
	}
	w.changes = append(w.changes, s)
}

// history returns all changes up to now.
func (w *witness) history(t *testing.T) *exact.History {
	t.Helper()
	timeout := time.After(time.Minute)
	r, err := w.client.Put(t.Context(), "/elsewhere", "x") // the watch sees it
	require.NoError(t, err)
	now := uint64(r.Header.Revision)
	for {
		w.mu.Lock()
		seen, err := w.seen, w.err
		w.mu.Unlock()
		require.NoError(t, err)
		if seen >= now {
			w.mu.Lock()
			defer w.mu.Unlock()
			h, err := exact.NewBackendHistory(1, w.seen, w.changes, 0)
			require.NoError(t, err)
			h.Lost = math.MaxUint64 // a replica that lost contact, or was restarted, may lose history at any time
			return h
		}
		select {
		case <-w.news:
		case <-timeout:
			require.Fail(t, "the witness is late", "it has seen %d, want %d", seen, now)
		}
	}
}

// has returns the last version that the witness has seen.
func (w *witness) has() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}
