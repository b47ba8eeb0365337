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
	err    error         // why it ended; to be read after done

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

// follow reads the watch until the Lease is deleted. A watch ends after half
// an hour or more; the next one goes on where it was.
func (o *observer) follow(ctx context.Context) error {
	opts := store.WatchOptions{Namespace: leaseNamespace, Name: leaseName}
	for {
		for ev, err := range o.leases.Watch(ctx, opts) {
			if err != nil {
				return err
			}
			if ev.Type == watch.Deleted {
				return nil
			}
			o.add(ev.Object)
			opts.ResourceVersion = ev.Object.ResourceVersion
		}
	}
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

// leader returns who leads, as soon as it is another than the one given.
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

// finish deletes the Lease, once nobody renews it any more, and returns the
// terms up to then: the deletion is the last that a watch tells of it.
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
