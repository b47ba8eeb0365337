// Package controller has what the controllers of kube-controller-manager share: a loop over the changes of a store, and a queue of
// tasks.
package controller

import (
	"context"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// FieldManager is the field manager of the writes of the controllers.
const FieldManager = "kube-controller-manager"

// Run runs a controller until ctx ends, as the service account of a name in kube-system, or as the server itself if it is "". It calls follow with the changes of the
// store of api, as Store.Changes has them, and beside it process with the tasks of queue, one after the other.
func Run[T comparable](ctx context.Context, api *httpapi.API, account string, queue *Queue[T],
	follow func(context.Context, []store.ObjectChange), process func(context.Context, T)) {
	if account != "" {
		ctx = store.WithUser(ctx, store.User{
			Name:   "system:serviceaccount:kube-system:" + account,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
		})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer queue.stop()
	var worker sync.WaitGroup
	defer worker.Wait()
	defer cancel()
	worker.Go(func() {
		for t, ok := queue.next(ctx); ok; t, ok = queue.next(ctx) {
			process(ctx, t)
		}
	})
	for changes, err := range api.Store().Changes(ctx) {
		if err != nil {
			return
		}
		follow(ctx, changes)
	}
}
