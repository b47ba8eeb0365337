package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/differ"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

func (c *remote[T]) Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error] {
	return func(yield func(watch.Event[T], error) bool) {
		if _, err := strconv.ParseUint(cmp.Or(opts.ResourceVersion, "0"), 10, 64); err != nil {
			yield(watch.Event[T]{}, meta.NewBadRequest("resourceVersion: Invalid value: %q: %v", opts.ResourceVersion, err))
			return
		}
		w := c.watcher(opts, func(ev watch.Event[T]) bool { return yield(ev, nil) })
		w.run(ctx, func(ctx context.Context) error {
			if w.after == "" || w.after == "0" {
				if err := w.initial(ctx); err != nil {
					return err
				}
			}
			return w.stream(ctx)
		}, yield)
	}
}

// initial sends the current state.
func (w *watcher[T]) initial(ctx context.Context) error {
	l, err := w.list(ctx)
	if err != nil {
		return err
	}
	for _, obj := range l.Items {
		if !w.send(watch.Event[T]{Type: watch.Added, Object: obj}) {
			return errLeft
		}
	}
	if !w.opts.AllowWatchBookmarks {
		return nil
	}
	end := new(T)
	w.c.kind.Given(end).GetObjectMeta().ResourceVersion = l.ResourceVersion
	if !w.send(watch.Event[T]{Type: watch.Bookmark, Object: end, InitialEventsEnd: true}) {
		return errLeft
	}
	return nil
}

// errLeft means that the consumer left the loop.
var errLeft = errors.New("left")

// watcher is the state of one Watch or Follow.
type watcher[T any] struct {
	c        *remote[T]
	opts     store.WatchOptions
	selected store.ListOptions
	send     func(watch.Event[T]) bool // false if the consumer left the loop
	after    string                    // the last resourceVersion seen
	deadline time.Time                 // zero without opts.Timeout

	failures int   // without an answer or an event in between
	failed   error // the last failure, nil after an event
}

func (c *remote[T]) watcher(opts store.WatchOptions, send func(watch.Event[T]) bool) *watcher[T] {
	w := &watcher[T]{c: c, opts: opts, send: send, after: opts.ResourceVersion}
	if opts.Name != "" {
		byName := "metadata.name=" + opts.Name
		if w.opts.FieldSelector != "" {
			byName += "," + w.opts.FieldSelector
		}
		w.opts.FieldSelector = byName
	}
	w.selected = store.ListOptions{
		Namespace: opts.Namespace, LabelSelector: opts.LabelSelector, FieldSelector: w.opts.FieldSelector, ShardSelector: opts.ShardSelector,
	}
	if opts.Timeout > 0 {
		w.deadline = time.Now().Add(opts.Timeout)
	}
	return w
}

// run calls do and yields its error, unless it means the end of opts.Timeout or of the loop.
func (w *watcher[T]) run(ctx context.Context, do func(context.Context) error, yield func(watch.Event[T], error) bool) {
	limited := ctx
	if !w.deadline.IsZero() {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, w.deadline)
		defer cancel()
	}
	err := do(limited)
	switch {
	case err == errLeft, limited.Err() != nil && ctx.Err() == nil:
		return
	case ctx.Err() != nil:
		err = endOf(ctx, w.failed)
	}
	yield(watch.Event[T]{}, err)
}

// list reads the current state, and repeats that until it succeeds.
func (w *watcher[T]) list(ctx context.Context) (*store.List[T], error) {
	opts := w.selected
	if w.after == "0" {
		opts.ResourceVersion = "0"
	}
	for {
		l, err := w.c.List(ctx, opts)
		if err == nil {
			w.failures, w.failed, w.after = 0, nil, l.ResourceVersion
			return l, nil
		}
		if err := w.pause(ctx, err); err != nil {
			return nil, err
		}
	}
}

// stream sends the changes after w.after. It begins again where the last answer ended.
func (w *watcher[T]) stream(ctx context.Context) error {
	for {
		began := time.Now()
		err := w.once(ctx)
		if err == errLeft {
			return err
		}
		if time.Since(began) >= steady {
			w.failures = 0
		}
		if err := w.pause(ctx, err); err != nil {
			return err
		}
	}
}

// The pauses between two watches (upstream: client-go, tools/cache/reflector.go, which waits for up
// to 30 seconds).
const (
	firstPause = 800 * time.Millisecond
	maxDoubled = 3                // so that a pause is shorter than a Lease
	steady     = 10 * time.Second // a watch that lasted so long did not fail at its start
)

// pause waits before a repetition: not at all before the first. It returns an error that a
// repetition would not change. A nil error is the end of a watch by the server.
func (w *watcher[T]) pause(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
	case !isTemporary(err):
		return err
	default:
		w.failed = err
	}
	wait := retryAfterSeconds(err)
	if n := w.failures; n > 0 {
		doubled := firstPause << min(n-1, maxDoubled)
		wait = max(wait, doubled+rand.N(doubled))
	}
	w.failures++
	return sleep(ctx, wait)
}

// A server ends a watch after a time that its client asks for, as informers do. If it does not, the
// client does so a little later: the connection may be dead.
const (
	minWatch = 5 * time.Minute
	lateness = 30 * time.Second
)

// once sends the events of one request. It returns nil when the server has ended the watch.
func (w *watcher[T]) once(ctx context.Context) (err error) {
	path, err := w.c.collectionPath(w.opts.Namespace)
	if err != nil {
		return err
	}
	length := minWatch + rand.N(minWatch)
	if !w.deadline.IsZero() {
		length = min(length, time.Until(w.deadline)+time.Second)
	}
	query := listQuery(w.selected)
	query.Set("watch", "true")
	query.Set("resourceVersion", w.after)
	query.Set("allowWatchBookmarks", "true")
	query.Set("timeoutSeconds", strconv.Itoa(max(int(length/time.Second), 1)))
	ctx, cancel := context.WithTimeout(ctx, length+lateness)
	defer cancel()
	a := w.c.c.begin(ctx, w.c.c.opening(ctx))
	code := 0
	defer func() { a.end(code, err) }()
	resp, err := a.send(&request{method: http.MethodGet, path: path, query: query})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	code = resp.StatusCode
	if code != http.StatusOK || !isJSON(resp) {
		body, err := readBody(resp, maxObject)
		if err != nil {
			return err
		}
		return errorOfAnswer(resp, body)
	}
	a.watch(code)
	defer context.AfterFunc(a.left, func() { a.cancel(context.Cause(a.left)) })()
	frames := newFrames(resp)
	for {
		ev, ended, err := w.next(frames)
		if err != nil || ended {
			return err
		}
		w.failures, w.failed = 0, nil
		w.after = w.c.kind.Given(ev.Object).GetObjectMeta().ResourceVersion
		if ev.Type == watch.Bookmark && !w.opts.AllowWatchBookmarks {
			continue
		}
		if !w.send(ev) {
			return errLeft
		}
	}
}

// next reads an event. ended means that the server has ended the watch.
func (w *watcher[T]) next(frames *frames) (ev watch.Event[T], ended bool, err error) {
	f, ended, err := frames.next()
	if err != nil || ended {
		return ev, ended, err
	}
	switch f.Type {
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
	default:
		return ev, false, fmt.Errorf("client: event: got type %q, want %s, %s, %s, %s or %s", f.Type, watch.Added, watch.Modified, watch.Deleted, watch.Bookmark, watch.Error)
	}
	obj, err := w.c.decode(f.Object)
	if err != nil {
		return ev, false, err
	}
	if w.c.kind.Given(obj).GetObjectMeta().ResourceVersion == "" {
		return ev, false, errors.New("client: event: got an object without resourceVersion")
	}
	return watch.Event[T]{Type: f.Type, Object: obj}, false, nil
}

func (c *remote[T]) Follow(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error] {
	return func(yield func(watch.Event[T], error) bool) {
		if opts.ResourceVersion != "" {
			yield(watch.Event[T]{}, meta.NewBadRequest("resourceVersion: got %q, want none: Follow begins with the current state", opts.ResourceVersion))
			return
		}
		opts.AllowWatchBookmarks = false
		// The consumer may change its objects, so it gets copies.
		d := differ.New(c.identity, func(t watch.EventType, obj *T) error {
			if !yield(watch.Event[T]{Type: t, Object: kind.ValueOf[T](c.kind.Object(obj, c.kind.OwnVersion()))}, nil) {
				return errLeft
			}
			return nil
		})
		w := c.watcher(opts, func(ev watch.Event[T]) bool { return d.Event(ev.Type, ev.Object) == nil })
		w.run(ctx, func(ctx context.Context) error {
			for {
				w.after = ""
				l, err := w.list(ctx)
				if err != nil {
					return err
				}
				d.Begin()
				for _, obj := range l.Items {
					if err := d.Listed(obj); err != nil {
						return err
					}
				}
				if err := d.End(); err != nil {
					return err
				}
				if err := w.stream(ctx); !errors.Is(err, store.ErrExpired) {
					return err
				}
			}
		}, yield)
	}
}

func (c *remote[T]) identity(obj *T) differ.Identity {
	m := c.kind.Given(obj).GetObjectMeta()
	return differ.Identity{Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion}
}
