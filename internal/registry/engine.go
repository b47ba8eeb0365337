package registry

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// engine is the part of a store whose objects are kept by a Backend. The trees, the counter and the history of the
// store are then a cache, which follows the Backend. A store in memory has no engine.
//
//   - Writes go to the Backend (enginecalls.go), and come back as changes (enginefollow.go).
//   - Reads that must be consistent ask for the present version, and wait until the cache has
//     it (enginecalls.go).
//
// The methods that a store in memory calls do nothing for a nil engine.
type engine struct {
	memory // the cache
	b      backend.Backend
	// turn is held while the follower makes a change, and while the kinds change. It is taken before Store.mu.
	turn     sync.Mutex
	prefixes map[string]*Resource // by the path of their keys

	ctx    context.Context // of the goroutines; its cause is why the engine has ended
	cancel context.CancelCauseFunc
	done   sync.WaitGroup

	loaded  chan struct{} // closed when the cache has had the present once
	waiting atomic.Int64  // reads that wait for Progress
	ask     chan struct{} // capacity 1: Progress is wanted

	mu         sync.Mutex
	unreadable []unreadable
	contact    bool
	lossTimer  clock.Timer // runs while there is no contact
	lost       bool        // contact was lost for contactPatience, and is not back

	losses atomic.Int64 // how often contact was lost for contactPatience; watches end with the next loss
}

// Open returns a store whose objects a Backend keeps. It follows the Backend until Close. The store can hold objects of these kinds
// only: Resource panics for any other. Use Loaded to wait until it can be read.
//
// FirstResourceVersion, Seed and Quota must be zero, and the clock must not be moved by hand: versions
// and the quota belong to the Backend, whose other users know no seed and no such clock.
func Open(o Options, b backend.Backend, all ...*kinds.Kind) (*Store, error) {
	_, manual := o.Clock.(interface{ FastForward(time.Duration) })
	for _, refused := range []struct {
		name, why string
		set       bool
	}{
		{"FirstResourceVersion", "the backend gives the versions", o.FirstResourceVersion != 0},
		{"Seed", "uids would repeat the uids of other stores on the same backend", o.Seed != 0},
		{"Quota", "the backend has its own", o.Quota != 0},
		{"Clock", "a clock that is moved by hand does not move the backend", manual},
	} {
		if refused.set {
			return nil, fmt.Errorf("store: %s: must not be set for a store on a backend: %s", refused.name, refused.why)
		}
	}
	st := newStore(&o)
	st.aging.Store(true) // a Coordinator that begins to decide asks when Leases changed
	e := &engine{
		memory: memory{st}, b: b, prefixes: map[string]*Resource{},
		loaded: make(chan struct{}), ask: make(chan struct{}, 1),
	}
	for _, k := range all {
		k = k.Origin()
		r := st.Resource(k)
		if other := e.prefixes[k.Info().StoragePrefix]; other != nil && other != r {
			return nil, prefixTaken(k, other.Kind)
		}
		e.prefixes[k.Info().StoragePrefix] = r
	}
	st.engine, st.source = e, e
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.done.Go(func() { e.follow(o.History) })
	e.done.Go(e.prepare)
	return st, nil
}

func (e *engine) follow(history int) {
	err := e.b.Follow(e.ctx, history, (*follower)(e))
	e.cancel(cmp.Or(err, ErrClosed))
	e.st.hub.Signal() // watches end with the error
}

// prepare waits until the cache has the present, and then asks for progress.
func (e *engine) prepare() {
	for !e.caughtUp() {
		if !e.pause() {
			return
		}
	}
	close(e.loaded)
	regular := time.NewTimer(watchProgress)
	defer regular.Stop()
	for {
		select {
		case <-e.ask:
			for e.askNow() && e.waiting.Load() > 0 {
			}
		case <-e.ctx.Done():
			return
		case <-regular.C:
			if e.st.Watchers() > 0 {
				e.askNow()
			}
			regular.Reset(watchProgress)
		}
	}
}

// caughtUp reports whether the cache gets the present version soon.
func (e *engine) caughtUp() bool {
	version, err := e.b.Version(e.ctx)
	if err != nil {
		return false
	}
	e.b.Progress()
	ctx, cancel := context.WithTimeout(e.ctx, progressInterval)
	defer cancel()
	return e.st.hub.WaitFor(ctx, version) == nil
}

// askNow asks the Backend for progress, and waits a little. It returns false if the engine has ended.
func (e *engine) askNow() bool {
	e.b.Progress()
	return e.pause()
}

// watchProgress is how often Progress is asked for while there are watches, so that their bookmarks are recent
// (upstream: the documentation of etcd for Kubernetes sets experimental-watch-progress-notify-interval to this).
const watchProgress = 5 * time.Second

// progressInterval is how often Progress is asked for while reads wait for it (upstream:
// apiserver, storage/cacher/progress).
const progressInterval = 100 * time.Millisecond

// pause waits for progressInterval. It returns false if the engine has ended.
func (e *engine) pause() bool {
	t := time.NewTimer(progressInterval)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-e.ctx.Done():
		return false
	}
}

// close ends the goroutines.
func (e *engine) close() {
	e.cancel(ErrClosed)
	e.done.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lossTimer != nil {
		e.lossTimer.Stop()
	}
}

// Loaded waits until a store on a Backend has its present state. A store in memory always has.
func (st *Store) Loaded(ctx context.Context) error {
	e := st.engine
	if e == nil {
		return nil
	}
	select {
	case <-e.loaded:
	case <-e.ctx.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	return e.endError()
}

// endError returns why the engine has ended, or nil.
func (e *engine) endError() error {
	if e == nil {
		return nil
	}
	return context.Cause(e.ctx)
}

// checkLoaded returns the error of a read that needs the cache.
func (e *engine) checkLoaded() error {
	if err := e.endError(); err != nil || e == nil {
		return err
	}
	select {
	case <-e.loaded:
		return nil
	default:
		return ErrInitializing()
	}
}

// ErrInitializing returns the error of a read before the state is loaded, and of a request that was in flight when its kind was replaced
// (upstream: apiserver, storage/cacher/cacher.go).
func ErrInitializing() *meta.StatusError {
	return meta.NewStatusError(http.StatusTooManyRequests, meta.ReasonTooManyRequests, &meta.StatusDetails{RetryAfterSeconds: 1}, "storage is (re)initializing")
}

// callTimeout bounds the calls of the Backend for a caller that sets no deadline.
const callTimeout = time.Minute

// call calls a method of the Backend. Its error is the end of the context, of the store, or the Backend's own.
func call[T any](ctx context.Context, e *engine, method func(context.Context) (T, error)) (result T, err error) {
	if err := e.endError(); err != nil {
		return result, err
	}
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel := context.WithTimeoutCause(ctx, callTimeout, errCallTimeout)
		defer cancel()
		ctx = bounded
	}
	result, err = method(ctx)
	switch {
	case err == nil:
		return result, nil
	case context.Cause(ctx) == error(errCallTimeout):
		return result, errCallTimeout
	case ctx.Err() != nil:
		return result, ctx.Err()
	}
	return result, cmp.Or(e.endError(), err)
}

// errCallTimeout is the error of a call that took too long.
var errCallTimeout = meta.NewTimeout("request did not complete within the allotted timeout", 0)

// contactPatience is how long watches go on without contact to the Backend (upstream: apiserver, storage/cacher: the
// reflector tries for 30 seconds before its next start ends all watches).
const contactPatience = 30 * time.Second

// Contact notes whether there is contact to the Backend.
func (f *follower) Contact(ok bool) {
	e := (*engine)(f)
	e.mu.Lock()
	defer e.mu.Unlock()
	if ok == e.contact {
		return
	}
	e.contact = ok
	if !ok {
		e.lossTimer = e.st.clock.AfterFunc(contactPatience, e.endWatches)
		return
	}
	e.lost = false
	if e.lossTimer != nil {
		e.lossTimer.Stop()
	}
}

// endWatches ends the watches whose clients should reconnect elsewhere.
func (e *engine) endWatches() {
	e.mu.Lock()
	if e.contact || e.lost {
		e.mu.Unlock()
		return
	}
	e.lost = true
	e.losses.Add(1)
	e.mu.Unlock()
	e.st.hub.Signal()
}
