package backend_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/meta"
)

// values is the smallest Backend: a map with a counter. It is linearizable, because each method holds the lock.
type values struct {
	mu      sync.Mutex
	now     map[string]backend.Stored
	changes []backend.Stored // all of them: change i has version i+1
	more    chan struct{}    // closed by the next change
}

var _ backend.Backend = (*values)(nil)

func newValues() *values {
	return &values{now: map[string]backend.Stored{}, more: make(chan struct{})}
}

// Commit compares and swaps.
func (v *values) Commit(_ context.Context, w backend.Write) (backend.Committed, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if have := v.now[w.Key]; have.Version != w.Expect {
		return backend.Committed{Have: have}, nil
	}
	change := backend.Stored{Key: w.Key, Value: w.Value, Version: uint64(len(v.changes)) + 1}
	v.changes = append(v.changes, change)
	if v.now[w.Key] = change; w.Value == nil {
		delete(v.now, w.Key)
	}
	close(v.more)
	v.more = make(chan struct{})
	return backend.Committed{Done: true, Version: change.Version}, nil
}

func (v *values) Get(_ context.Context, key string) (backend.Stored, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now[key], nil
}

func (v *values) List(_ context.Context, prefix string) (all []backend.Stored, version uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for key, s := range v.now {
		if strings.HasPrefix(key, prefix) {
			all = append(all, s)
		}
	}
	return all, uint64(len(v.changes)), nil
}

func (v *values) Version(context.Context) (uint64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return uint64(len(v.changes)), nil
}

// Progress has nothing to do: each version has a change, which Follow reports.
func (v *values) Progress() {}

// Follow begins with the empty state if history allows it, and otherwise with the present one.
func (v *values) Follow(ctx context.Context, history int, f backend.Follower) error {
	v.mu.Lock()
	state, at := map[string]backend.Stored{}, 0
	if len(v.changes) > history {
		state, at = maps.Clone(v.now), len(v.changes)
	}
	v.mu.Unlock()
	if err := f.Load(maps.Values(state), uint64(at)); err != nil {
		return err
	}
	for {
		v.mu.Lock()
		changes, more := v.changes[at:], v.more
		v.mu.Unlock()
		for _, c := range changes {
			if err := f.Changed(c.Version, []backend.Stored{c}); err != nil {
				return err
			}
		}
		at += len(changes)
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Two stores on one Backend are replicas: each sees the writes of the other one.
func Example() {
	ctx, kept := context.Background(), newValues()
	open := func() *store.Store {
		st, err := store.Open(ctx, store.Options{}, kept, lease.Kind())
		if err != nil {
			panic(err)
		}
		return st
	}
	a, b := open(), open()
	defer a.Close()
	defer b.Close()

	l, err := lease.In(a).Create(ctx, &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "leader"},
		Spec:       lease.LeaseSpec{HolderIdentity: new("worker-1")},
	}, store.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := lease.In(b).Get(ctx, "default", "leader")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*got.Spec.HolderIdentity, "at", got.ResourceVersion)

	l.Spec.HolderIdentity, got.Spec.HolderIdentity = new("worker-2"), new("worker-3")
	_, err = lease.In(b).Update(ctx, got, store.UpdateOptions{})
	fmt.Println(err)
	_, err = lease.In(a).Update(ctx, l, store.UpdateOptions{})
	fmt.Println(err)

	all, version, _ := kept.List(ctx, lease.Kind().Info().StoragePrefix+"/")
	fmt.Println(all[0].Key, all[0].Version, version, slices.Equal(all[0].Value[:4], []byte("k8s\x00")))

	// Output:
	// worker-1 at 1
	// <nil>
	// Operation cannot be fulfilled on leases.coordination.k8s.io "leader": the object has been modified; please apply your changes to the latest version and try again
	// leases/default/leader 2 2 true
}
