package referee

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/util/flowcontrol"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// eventBuffer is the number of events that may wait for a reader, as in etcd's store.
const eventBuffer = 100

// watcher copies the events of a store's watch into a channel.
type watcher struct {
	s      *Storage
	from   *registry.Watcher
	events chan apiwatch.Event
	stop   context.CancelFunc
}

// Watch watches one object, or all below a key, until the context ends. The
// deadline of the context is the timeout of the watch.
func (s *Storage) Watch(ctx context.Context, key string, opts storage.ListOptions) (apiwatch.Interface, error) {
	at, err := placeOf(key, opts.Recursive)
	if err != nil {
		return nil, err
	}
	options := registry.ListOptions{
		Namespace:           at.namespace,
		ResourceVersion:     opts.ResourceVersion,
		SendInitialEvents:   opts.SendInitialEvents,
		AllowWatchBookmarks: opts.Predicate.AllowWatchBookmarks,
	}
	options.LabelSelector, options.FieldSelector = selectors(at, &opts.Predicate)
	if opts.SendInitialEvents != nil {
		options.ResourceVersionMatch = registry.MatchNotOlderThan
	}
	if deadline, ok := ctx.Deadline(); ok {
		options.Timeout = time.Until(deadline)
	}
	ctx, stop := context.WithCancel(ctx)
	from, err := s.pods.Watch(ctx, options)
	if err != nil {
		stop()
		return nil, translate(key, err)
	}
	flowcontrol.WatchInitialized(ctx)
	w := &watcher{s: s, from: from, events: make(chan apiwatch.Event, eventBuffer), stop: stop}
	go w.run(ctx)
	return w, nil
}

// Stop ends the watch. Events in the channel can still be read.
func (w *watcher) Stop() { w.stop() }

// ResultChan returns the channel of events, which is closed at the end.
func (w *watcher) ResultChan() <-chan apiwatch.Event { return w.events }

func (w *watcher) run(ctx context.Context) {
	defer close(w.events)
	defer w.stop()
	defer w.from.Close()
	for {
		batch, err := w.from.Next(ctx)
		if e, ok := errors.AsType[*meta.StatusError](err); ok {
			w.send(ctx, apiwatch.Event{Type: apiwatch.Error, Object: status(&e.Status)})
		}
		if err != nil {
			return
		}
		for _, ev := range batch {
			event := w.translate(ctx, ev)
			if !w.send(ctx, event) || event.Type == apiwatch.Error {
				return
			}
		}
	}
}

func (w *watcher) send(ctx context.Context, ev apiwatch.Event) bool {
	select {
	case w.events <- ev:
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *watcher) translate(ctx context.Context, ev registry.ItemEvent) apiwatch.Event {
	if ev.Type == watch.Bookmark {
		m := ev.Item.Metadata()
		return apiwatch.Event{Type: apiwatch.Bookmark, Object: &example.Pod{
			ObjectMeta: metav1.ObjectMeta{ResourceVersion: m.ResourceVersion, Annotations: m.Annotations},
		}}
	}
	pod, _, err := w.s.load(ctx, ev.Item)
	if err != nil {
		return apiwatch.Event{Type: apiwatch.Error, Object: &metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: err.Error(),
		}}
	}
	return apiwatch.Event{Type: apiwatch.EventType(ev.Type), Object: pod}
}
