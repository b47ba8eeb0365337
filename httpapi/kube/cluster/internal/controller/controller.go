// Package controller has what the controllers of kube-controller-manager share: a loop over the changes of a store, and a queue of
// tasks.
package controller

import (
	"context"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// FieldManager is the field manager of the writes of the controllers.
const FieldManager = "kube-controller-manager"

// Run runs a controller until ctx ends, as the service account of a name in kube-system, or as the server itself if it is "". It calls
// follow with the changes of the store of api, as Store.Changes has them, and beside it process with the tasks of queue, as workInTurn
// does.
func Run[T comparable](ctx context.Context, api *httpapi.API, account string, queue *Queue[T],
	follow func(context.Context, []store.ObjectChange), process func(context.Context, T)) {
	if account != "" {
		ctx = store.WithUser(ctx, store.User{
			Name:   "system:serviceaccount:kube-system:" + account,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
		})
	}
	ctx, cancel := context.WithCancel(ctx)
	var worker sync.WaitGroup
	defer worker.Wait()
	defer cancel()
	worker.Go(func() { workInTurn(ctx, queue, process) })
	for changes, err := range api.Store().Changes(ctx) {
		if err != nil {
			return
		}
		follow(ctx, changes)
	}
}

// Work calls process with the tasks of queue until ctx ends: with as many at the same time as there are workers, so that a task that takes
// long does not hold up the others.
func Work[T comparable](ctx context.Context, queue *Queue[T], workers int, process func(context.Context, T)) {
	defer queue.stop()
	var all sync.WaitGroup
	defer all.Wait()
	for range workers {
		all.Go(func() {
			for t, ok := queue.next(ctx); ok; t, ok = queue.next(ctx) {
				process(ctx, t)
				queue.done(t)
			}
		})
	}
}

const (
	// patience is how long a task may hold up the tasks after it, as one does whose write waits for a webhook.
	patience = time.Second
	// maxWorkers is how many tasks are processed at the same time at most (upstream: the flag --concurrent-gc-syncs).
	maxWorkers = 20
)

// workInTurn calls process with the tasks of queue until ctx ends, one after the other, so that a test has the same order each time. A task
// that takes longer than patience holds up no others: they go on beside it.
func workInTurn[T comparable](ctx context.Context, queue *Queue[T], process func(context.Context, T)) {
	defer queue.stop()
	var (
		all           sync.WaitGroup
		mu            sync.Mutex
		workers, late int // under mu; late is how many of the workers have a task that takes long
		work          func()
	)
	add := func() {
		workers++
		all.Go(work)
	}
	work = func() {
		for t, ok := queue.next(ctx); ok; t, ok = queue.next(ctx) {
			var isDone, isLate bool // under mu
			timer := time.AfterFunc(patience, func() {
				mu.Lock()
				defer mu.Unlock()
				if isDone {
					return
				}
				isLate = true
				if late++; late == workers && workers < maxWorkers {
					add()
				}
			})
			process(ctx, t)
			queue.done(t)
			timer.Stop()
			mu.Lock()
			isDone = true
			if isLate {
				late--
			}
			spare := workers-late > 1
			if spare {
				workers--
			}
			mu.Unlock()
			if spare {
				return
			}
		}
	}
	mu.Lock()
	add()
	mu.Unlock()
	all.Wait()
}
