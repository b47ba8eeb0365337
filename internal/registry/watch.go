package registry

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Timing of watches (upstream: apiserver, storage/cacher and endpoints/handlers).
const (
	bookmarkInterval = time.Minute
	// bookmarkBeforeEnd is how long before its timeout a watch sends its last bookmark.
	bookmarkBeforeEnd = 2 * time.Second
)

// initialEventsEnd marks the bookmark that follows the initial events.
const initialEventsEnd = "k8s.io/initial-events-end"

// ItemEvent is one event of a watch.
type ItemEvent struct {
	Type watch.EventType
	Item *Item
	// Initial marks the events of the state at the start of the watch.
	Initial bool
	// InitialEnd marks the bookmark that follows the initial events.
	InitialEnd bool
}

// Watcher is an open watch. Its methods are for one goroutine.
type Watcher struct {
	r   *Resource
	sel selection
	err error // returned after the last events

	initial   snapshot // the objects of the initial events; it has no tree once they are sent
	rest      string   // the key of the first object that is not sent
	events    events   // after them
	version   uint64   // of the last event or bookmark
	first     uint64   // the version that the watch starts after
	endMark   bool     // the bookmark after the initial events is due
	bookmarks bool

	deadline time.Time // zero is none
	next     time.Time // when the next bookmark is due
	last     time.Time // when the last bookmark is due; zero if it was sent, or is not due at all
	bell     bell

	contact *contact // nil without ListOptions.EndWithoutContact
	ready   []ItemEvent
}

// Watch opens a watch. Its errors concern the options; Next returns the error for a version
// that is too old or too far ahead. The caller must Close the Watcher.
func (r *Resource) Watch(ctx context.Context, opts ListOptions) (*Watcher, error) {
	from := r.st.reader(ctx)
	if p, ok := from.(*Replica); ok && p.opts.NoWatchList {
		opts.noWatchList = true
	}
	opts.setWatchDefaults()
	sel, err := r.parseSelection(&opts, true)
	if err != nil {
		return nil, err
	}
	if err := sel.parseShards(opts.ShardSelector, opts.Warn); err != nil {
		return nil, err
	}
	if err := r.CheckKey(opts.Namespace, sel.name); err != nil {
		return nil, err
	}
	version, err := parseReadVersion(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	losses, err := r.st.engine.checkStart(opts.EndWithoutContact)
	if err != nil {
		return nil, err
	}
	w := &Watcher{r: r, sel: sel, bookmarks: opts.AllowWatchBookmarks}
	if opts.EndWithoutContact {
		w.contact = &contact{r.st.engine, losses, r.epoch.Load()}
	}
	w.setTimes(&opts)
	w.err = w.start(ctx, from, opts, version)
	w.first = w.version
	if vs, ok := ctx.Value(veilsKey{}).(*Veils); ok && w.events != nil {
		w.events = vs.over(w.events, w, from)
	}
	return w, nil
}

func (w *Watcher) setTimes(opts *ListOptions) {
	now := w.r.st.clock.Now()
	if opts.Timeout != 0 {
		w.deadline = now.Add(opts.Timeout)
		if opts.Timeout > bookmarkBeforeEnd {
			w.last = w.deadline.Add(-bookmarkBeforeEnd)
		}
	}
	w.next = now.Add(bookmarkInterval)
}

// start finds the position of the watch and its initial state.
func (w *Watcher) start(ctx context.Context, from reader, opts ListOptions, version uint64) (err error) {
	sends := opts.SendInitialEvents
	if sends == nil && version == 0 {
		return w.startWithState(from, false)
	}
	if opts.ResourceVersion == "" {
		if version, err = from.present(ctx); err != nil {
			return err
		}
	}
	if sends == nil || !*sends {
		if version == 0 {
			version = min(from.position(w.r).version, w.r.st.ResourceVersion())
		}
		return w.open(from, version)
	}
	if err := from.waitFor(ctx, w.r, version); err != nil {
		return err
	}
	return w.startWithState(from, w.bookmarks)
}

// open begins to read the events after a version.
func (w *Watcher) open(from reader, after uint64) error {
	opened, err := from.open(w.r, &w.sel, after)
	if err != nil {
		return err
	}
	w.events, w.version, w.bell = opened, after, bell{clock: w.r.st.clock, ring: opened.Signal}
	return nil
}

// startWithState starts with the state that reads see now, and after it: no change is lost or sent twice.
func (w *Watcher) startWithState(from reader, endMark bool) error {
	for {
		s, err := from.state(w.r)
		if err != nil {
			return expiredList()
		}
		if err := w.open(from, s.version); errors.Is(err, meta.ReasonExpired) {
			if err := w.kindIsGone(); err != nil {
				return err // its state is the last one
			}
			if s.version < w.r.since {
				return err // a replica stopped before the kind changed
			}
			continue // history has lost the changes since that state meanwhile
		} else if err != nil {
			return err
		}
		w.initial, w.endMark = s, endMark
		return w.r.st.engine.checkReadable(w.r, w.sel.namespace, w.sel.name, s.version)
	}
}

// expiredWatch returns the error of a watch for an error of the history.
func expiredWatch(err error) error { return meta.NewExpired(err.Error()) }

// Next waits for events and returns those that are ready. The slice is valid until the next call. The error is io.EOF
// at the timeout or without contact, ErrClosed, the error of ctx, or a *meta.StatusError: the watch expired, or its
// version did not come. It is the error of the Backend if that has ended.
func (w *Watcher) Next(ctx context.Context) ([]ItemEvent, error) {
	for {
		if w.err == nil {
			w.err = w.ended(ctx)
		}
		if w.err != nil {
			return nil, w.err
		}
		over := w.kindIsGone() // before the poll, so that it finds all changes that came before
		if w.poll(); len(w.ready) > 0 {
			return w.ready, nil
		}
		switch {
		case w.err != nil:
		case over != nil:
			w.err = over
		default:
			w.wait(ctx)
		}
	}
}

// ended returns the error of a watch that is over, even if there are more events.
func (w *Watcher) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-w.r.st.hub.Done():
		return ErrClosed
	default:
	}
	if w.contact.isLost() || w.isOver(w.deadline) {
		return io.EOF
	}
	return w.r.st.engine.endError()
}

// kindIsGone returns the error of a watch whose kind was replaced or removed.
func (w *Watcher) kindIsGone() error {
	err := w.r.retired.Load()
	switch {
	case w.contact != nil && (err != nil || w.r.epoch.Load() != w.contact.epoch):
		return io.EOF
	case err != nil:
		return err
	}
	return nil
}

// isOver reports whether a time has come; the zero time never does.
func (w *Watcher) isOver(t time.Time) bool {
	return !t.IsZero() && !w.r.st.clock.Now().Before(t)
}

// earliest returns the earlier of two times; the zero time is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// initialBatch bounds how many initial events one Next returns. A watch that is not read holds
// the state, which all share, and not a list of its own.
const initialBatch = 256

// poll finds the events that are ready.
func (w *Watcher) poll() {
	w.ready = w.ready[:0]
	if w.initial.tree != nil {
		items, next, _ := w.sel.items(context.Background(), w.initial, w.rest, initialBatch) // the only error is the end of the context
		for _, it := range items {
			w.ready = append(w.ready, ItemEvent{Type: watch.Added, Item: it, Initial: true})
		}
		if w.rest = next; next != "" {
			return
		}
		w.initial = snapshot{}
	}
	if w.endMark {
		w.endMark = false
		w.bookmark(w.version, true)
		return
	}
	if len(w.ready) == 0 {
		if w.ready, w.err = w.events.poll(w.ready); w.err != nil {
			return
		}
		w.version = max(w.version, w.events.sent())
	}
	w.tick()
}

// tick adds a bookmark if one is due. Without events it reports the changes of other objects.
func (w *Watcher) tick() {
	if !w.bookmarks {
		return
	}
	now := w.r.st.clock.Now()
	ending := w.isOver(w.last)
	if !ending && now.Before(w.next) {
		return
	}
	version, can := w.events.settled(w.version)
	if can == afterEvents && len(w.ready) == 0 {
		return
	}
	w.next = now.Add(bookmarkInterval)
	if ending {
		w.last = time.Time{}
	}
	if can == notNow {
		return
	}
	// A client that has seen no change needs no bookmark (upstream: cacheWatcher.process).
	if version = max(version, w.version); version > w.first {
		w.bookmark(version, false)
	}
}

func (w *Watcher) bookmark(version uint64, initialEnd bool) {
	w.version = version
	var annotations map[string]string
	if initialEnd {
		annotations = map[string]string{initialEventsEnd: "true"}
	}
	it := w.r.Empty(strconv.FormatUint(version, 10), annotations)
	w.ready = append(w.ready, ItemEvent{Type: watch.Bookmark, Item: it, InitialEnd: initialEnd})
}

// wait blocks until poll may find events or the watch has ended.
func (w *Watcher) wait(ctx context.Context) {
	until := earliest(w.deadline, w.events.due())
	if w.bookmarks {
		until = earliest(earliest(until, w.next), w.last)
	}
	w.bell.set(until)
	w.bell.bind(ctx)
	w.events.wait()
}

// Close ends the watch. It may be called more than once.
func (w *Watcher) Close() {
	w.bell.stop()
	if w.events != nil {
		w.events.Close()
	}
}

// contact is the contact to a Backend, without which a watch ends.
type contact struct {
	engine *engine // nil in memory
	losses int64   // of the engine at the start
	epoch  int64   // of the resource at the start
}

// isLost reports whether contact was lost since the start.
func (c *contact) isLost() bool {
	return c != nil && c.engine != nil && c.engine.losses.Load() != c.losses
}
