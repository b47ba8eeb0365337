package etcd

import (
	"context"

	"go.etcd.io/etcd/client/v3/kubernetes"
)

// question asks etcd for its revision, for all who asked before it was sent.
type question struct {
	done    chan struct{} // closed when the answer is here
	version uint64
	err     error
}

// Version implements backend.Backend. At most one question is on its way. Who asks
// meanwhile shares the next one: the answer to one that was sent before may be too old.
func (e *etcd) Version(ctx context.Context) (uint64, error) {
	e.mu.Lock()
	if e.pending == nil {
		e.pending = &question{done: make(chan struct{})}
	}
	q := e.pending
	if !e.asking {
		if err := e.ctx.Err(); err != nil {
			e.mu.Unlock()
			return 0, err
		}
		e.asking = true
		e.background.Go(e.ask)
	}
	e.mu.Unlock()
	select {
	case <-q.done:
		return q.version, q.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// ask sends the pending question, and goes on while there is one.
func (e *etcd) ask() {
	for {
		e.mu.Lock()
		q := e.pending
		e.pending, e.asking = nil, q != nil
		e.mu.Unlock()
		if q == nil {
			return
		}
		q.version, q.err = e.revision(e.ctx)
		close(q.done)
		if q.err != nil {
			e.failPending(q.err)
		}
	}
}

// failPending answers the pending question with the error of the one before it. Who asked would
// otherwise wait twice as long without a majority.
func (e *etcd) failPending(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if q := e.pending; q != nil {
		q.err, e.pending = err, nil
		close(q.done)
	}
}

// revision returns the present revision of etcd.
func (e *etcd) revision(ctx context.Context) (version uint64, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		low := e.highest.Load()
		// The key need not exist. It is the one that health checks read.
		r, err := e.client.Get(ctx, e.prefix+healthKey, kubernetes.GetOptions{})
		if err != nil {
			return err
		}
		version = uint64(r.Revision)
		return e.saw(low, r.Revision)
	})
	return version, err
}
