package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/internal/test/exact"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/watch"
)

// witness reads all changes of etcd from its beginning by one watch, without a replica and without our codecs.
type witness struct {
	ctx    context.Context // of the watch
	client *clientv3.Client
	prefix string

	mu      sync.Mutex
	seen    uint64
	changes []exact.Change
	err     error
	news    chan struct{} // has room for one
}

// newWitness starts to watch an etcd in which nothing was compacted.
func newWitness(t *testing.T, urls []string, prefix string) *witness {
	client, err := etcd.Dial(clientv3.Config{Endpoints: urls})
	require.NoError(t, err)
	w := &witness{client: client, prefix: prefix + "/leases/", news: make(chan struct{}, 1)}
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
	for r := range w.client.Watch(w.ctx, w.prefix, clientv3.WithPrefix(), clientv3.WithRev(1)) {
		w.mu.Lock()
		if err := r.Err(); err != nil {
			w.err = err
		}
		for _, ev := range r.Events {
			if err := w.add(ev); err != nil {
				w.err = err
			}
		}
		if r.IsProgressNotify() {
			w.seen = max(w.seen, uint64(r.Header.Revision))
		}
		w.mu.Unlock()
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

func (w *witness) add(ev *clientv3.Event) error {
	namespace, name, _ := strings.Cut(strings.TrimPrefix(string(ev.Kv.Key), w.prefix), "/")
	c := exact.Change{Version: uint64(ev.Kv.ModRevision), New: exact.State{Namespace: namespace, Name: name}}
	if ev.Type == clientv3.EventTypeDelete {
		c.Type = watch.Deleted
	} else {
		s, err := decode(ev.Kv.Value)
		if err != nil || s.Namespace != namespace || s.Name != name {
			return fmt.Errorf("the value of %s is of %s/%s: %v", ev.Kv.Key, s.Namespace, s.Name, err)
		}
		c.New = s
		c.New.Version = c.Version
	}
	w.changes, w.seen = append(w.changes, c), c.Version
	return nil
}

// history returns all changes up to now.
func (w *witness) history(t *testing.T) *exact.History {
	t.Helper()
	timeout := time.After(time.Minute)
	var now uint64
	for {
		// Progress comes only to a watch behind the present, so there must be a change.
		r, err := w.client.Put(t.Context(), "/elsewhere", "x")
		require.NoError(t, err)
		if now == 0 {
			now = uint64(r.Header.Revision)
		}
		require.NoError(t, w.client.RequestProgress(w.ctx))
		w.mu.Lock()
		seen, err := w.seen, w.err
		w.mu.Unlock()
		require.NoError(t, err)
		if seen >= now {
			w.mu.Lock()
			defer w.mu.Unlock()
			return exact.Sparse(slices.Clone(w.changes), 1, w.seen)
		}
		select {
		case <-w.news:
		case <-time.After(100 * time.Millisecond):
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

// members returns the fields of a message by their numbers.
func members(data []byte) (map[protowire.Number][][]byte, error) {
	fields := map[protowire.Number][][]byte{}
	for len(data) > 0 {
		number, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
		if typ == protowire.BytesType {
			value, n := protowire.ConsumeBytes(data)
			if n < 0 {
				return nil, protowire.ParseError(n)
			}
			fields[number], data = append(fields[number], value), data[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, typ, data); n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
	}
	return fields, nil
}

// decode decodes what the clients write of a Lease.
func decode(value []byte) (s exact.State, err error) {
	at := func(data []byte, path ...protowire.Number) []byte {
		for _, number := range path {
			fields, failed := members(data)
			if failed != nil {
				err = failed
				return nil
			}
			if len(fields[number]) == 0 {
				return nil
			}
			data = fields[number][0]
		}
		return data
	}
	envelope, ok := strings.CutPrefix(string(value), "k8s\x00")
	if !ok {
		return s, fmt.Errorf("not a protobuf value: %q", value)
	}
	lease := at([]byte(envelope), 2)
	s.Name, s.Namespace, s.UID = string(at(lease, 1, 1)), string(at(lease, 1, 3)), string(at(lease, 1, 5))
	s.Color = string(at(lease, 1, 11, 2))
	s.Write = string(at(lease, 2, 1))
	return s, err
}
