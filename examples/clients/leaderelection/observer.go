package main

import (
	"context"
	"slices"
	"sync"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// observer follows the Lease by a watch, from its creation to its deletion.
type observer struct {
	leases *store.Collection[lease.Lease]
	cancel context.CancelFunc
	done   chan struct{} // closed at the end of the watch
	err    error         // of the watch; must be read after done

	mu    sync.Mutex // guards all below
	terms []term
	turn  chan struct{} // closed at the next change of leaders
}

// observe starts an observer. The caller must end it by finish or stop.
func observe(st *store.Store) *observer {
	ctx, cancel := context.WithCancel(context.Background())
	o := &observer{leases: lease.In(st), cancel: cancel, done: make(chan struct{}), turn: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.err = o.follow(ctx)
	}()
	return o
}

// follow reads the watch until the Lease is deleted.
func (o *observer) follow(ctx context.Context) error {
	for ev, err := range o.leases.Watch(ctx, store.WatchOptions{Namespace: leaseNamespace, Name: leaseName}) {
		if err != nil {
			return err
		}
		if ev.Type == watch.Deleted {
			break
		}
		o.add(ev.Object)
	}
	return nil
}

func (o *observer) add(l *lease.Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.terms)
	o.terms = appendState(o.terms, l)
	if len(o.terms) > before {
		close(o.turn)
		o.turn = make(chan struct{})
	}
}

// leader waits until the leader is not other, and returns it.
func (o *observer) leader(ctx context.Context, other string) (string, error) {
	for {
		o.mu.Lock()
		n, turn := len(o.terms), o.turn
		if n > 0 && o.terms[n-1].holder != other {
			defer o.mu.Unlock()
			return o.terms[n-1].holder, nil
		}
		o.mu.Unlock()
		select {
		case <-turn:
		case <-o.done:
			return "", o.err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// finish deletes the Lease and returns its terms. No elector may be running: the
// deletion must be the last event of the watch.
func (o *observer) finish() ([]term, error) {
	defer o.stop()
	if _, err := o.leases.Delete(context.Background(), leaseNamespace, leaseName, store.DeleteOptions{}); err != nil {
		return nil, err
	}
	<-o.done
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.terms), o.err
}

// stop ends the watch.
func (o *observer) stop() {
	o.cancel()
	<-o.done
}
