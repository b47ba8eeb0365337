package registry

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/clock"
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
	hub *hub.Reader[change]
	err error // returned after the last events

	initial   snapshot // the objects of the initial events; it has no tree once they are sent
	rest      string   // the key of the first object that is not sent
	version   uint64   // of the last event or bookmark
	first     uint64   // the version that the watch starts after
	endMark   bool     // the bookmark after the initial events is due
	bookmarks bool

	deadline time.Time // zero is none
	next     time.Time // when the next bookmark is due
	last     time.Time // when the last bookmark is due; zero if it was sent, or is not due at all

	// The alarm and the end of the context wake the watch, as a change does.
	alarm  clock.Timer // nil until it is set
	due    time.Time   // when the alarm rings
	rang   atomic.Bool
	done   <-chan struct{} // of the context
	unbind func() bool     // separates the watch from the context

	from   reader   // that serves the watch
	at     position // of the reader
	engine *engine  // for ListOptions.EndWithoutContact on a Backend, else nil
	losses int64    // of the engine at the start
	leaves bool     // ListOptions.EndWithoutContact
	epoch  int64    // of the resource at the start

	veils   *Veils   // or nil
	started snapshot // the state that the watch started with, if veils is not nil

	changes []*hub.Change[change]
	events  []ItemEvent
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
	w := &Watcher{
		r: r, sel: sel, bookmarks: opts.AllowWatchBookmarks, from: from,
		leaves: opts.EndWithoutContact, epoch: r.epoch.Load(),
	}
	if opts.EndWithoutContact {
		w.engine, w.losses = r.st.engine, losses
	}
	w.veils, _ = ctx.Value(veilsKey{}).(*Veils)
	w.setTimes(&opts)
	w.err = w.start(ctx, opts, version)
	w.first = w.version
	w.veils.bind(w)
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
func (w *Watcher) start(ctx context.Context, opts ListOptions, version uint64) (err error) {
	sends := opts.SendInitialEvents
	if sends == nil && version == 0 {
		return w.startWithState(false)
	}
	if opts.ResourceVersion == "" {
		if version, err = w.from.present(ctx); err != nil {
			return err
		}
	}
	if sends == nil || !*sends {
		if version == 0 {
			version = min(w.from.position(w.r).version, w.r.st.ResourceVersion())
		}
		return w.from.open(w, version)
	}
	if err := w.from.waitFor(ctx, w.r, version); err != nil {
		return err
	}
	return w.startWithState(w.bookmarks)
}

// startWithState starts with the state that reads see now, and after it: no change is lost or sent twice.
func (w *Watcher) startWithState(endMark bool) error {
	for {
		s, err := w.from.state(w.r)
		if err != nil {
			return expiredList()
		}
		if err := w.from.open(w, s.version); errors.Is(err, meta.ReasonExpired) {
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
		if w.veils != nil {
			w.started = s
		}
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
		if w.poll(); len(w.events) > 0 {
			return w.events, nil
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
	if w.engine != nil && w.engine.losses.Load() != w.losses || w.isOver(w.deadline) {
		return io.EOF
	}
	return w.r.st.engine.endError()
}

// kindIsGone returns the error of a watch whose kind was replaced or removed.
func (w *Watcher) kindIsGone() error {
	err := w.r.retired.Load()
	switch {
	case w.leaves && (err != nil || w.r.epoch.Load() != w.epoch):
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

// poll fills events with the events that are ready.
func (w *Watcher) poll() {
	w.events = w.events[:0]
	if w.initial.tree != nil {
		items, next, _ := w.sel.items(context.Background(), w.initial, w.rest, initialBatch) // the only error is the end of the context
		for _, it := range items {
			w.events = append(w.events, ItemEvent{Type: watch.Added, Item: it, Initial: true})
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
	w.readHistory()
	w.veils.lift(w)
	w.tick()
}

func (w *Watcher) readHistory() {
	w.at = w.from.position(w.r)
	if w.at.floor > 0 { // the changes before it will never be sent
		if seen := w.hub.SettledUntil(everything); seen < w.at.floor {
			w.err = expiredWatch(&hub.ExpiredError{Requested: seen, Oldest: w.at.floor})
		}
	}
	for len(w.events) == 0 && w.err == nil {
		changes, more, err := w.hub.Poll(w.changes[:0], w.at.version)
		w.changes = changes
		if err != nil {
			w.err = expiredWatch(err)
		}
		for _, c := range changes {
			if ev := w.sel.event(c); ev.Item != nil && !w.veils.hide(w, c.Version, &ev) {
				w.events = append(w.events, ev)
				w.version = c.Version
			}
		}
		clear(changes) // an idle watcher must not keep history in memory
		if !more {
			return
		}
	}
}

// event returns the event of a change for a selection: an object that begins to match is
// added, one that ceases to match is deleted.
func (s *selection) event(c *hub.Change[change]) ItemEvent {
	if s.all() { // the history is read in the namespace of the selection
		return ItemEvent{Type: c.Payload.eventType(), Item: eventItem(c)}
	}
	before, after := s.matches(c.Payload.old), s.matches(c.Payload.new)
	switch {
	case before && after:
		return ItemEvent{Type: watch.Modified, Item: c.Payload.new}
	case after:
		return ItemEvent{Type: watch.Added, Item: c.Payload.new}
	case before:
		return ItemEvent{Type: watch.Deleted, Item: c.Payload.last.of(c)}
	}
	return ItemEvent{}
}

// tick adds a bookmark if one is due. Without events it reports the changes of other objects.
func (w *Watcher) tick() {
	if !w.bookmarks || w.err != nil {
		return
	}
	now := w.r.st.clock.Now()
	ending := w.isOver(w.last)
	if !ending && now.Before(w.next) {
		return
	}
	version, ok := w.settled()
	hidden, behind := w.veils.veilsBookmarks(), !ok && len(w.events) == 0
	if behind && !hidden && w.at.version == everything {
		return
	}
	w.next = now.Add(bookmarkInterval)
	if ending {
		w.last = time.Time{}
	}
	if hidden || behind { // a reader may be behind the start of the watch
		return
	}
	// A client that has seen no change needs no bookmark (upstream: cacheWatcher.process).
	if version = max(version, w.version); version > w.first {
		w.bookmark(version, false)
	}
}

// settled returns the version for a bookmark, and false if there is none yet.
func (w *Watcher) settled() (uint64, bool) {
	if w.at.version == everything {
		return w.hub.Settled()
	}
	version := w.hub.SettledUntil(w.at.version)
	return version, version >= w.version
}

func (w *Watcher) bookmark(version uint64, initialEnd bool) {
	w.version = version
	var annotations map[string]string
	if initialEnd {
		annotations = map[string]string{initialEventsEnd: "true"}
	}
	it := w.r.Empty(strconv.FormatUint(version, 10), annotations)
	w.events = append(w.events, ItemEvent{Type: watch.Bookmark, Item: it, InitialEnd: initialEnd})
}

// wait blocks until poll may find events or the watch has ended.
func (w *Watcher) wait(ctx context.Context) {
	until := w.deadline
	if st := w.r.st; !w.at.next.IsZero() { // the clock of timers may differ
		until = earliest(until, st.clock.Now().Add(w.at.next.Sub(st.now())))
	}
	if w.bookmarks {
		until = earliest(earliest(until, w.next), w.last)
	}
	w.setAlarm(until)
	w.bind(ctx)
	if w.at.version == everything {
		<-w.hub.Wake()
		return
	}
	select {
	case <-w.hub.Wake():
	case <-w.at.moved:
	case <-w.at.grown:
	}
}

// setAlarm makes the alarm ring at a time. The zero time leaves it as it is: a watch
// that is woken too often only looks for events.
func (w *Watcher) setAlarm(at time.Time) {
	if at.IsZero() || at.Equal(w.due) && !w.rang.Load() {
		return
	}
	w.due = at
	w.rang.Store(false)
	left := at.Sub(w.r.st.clock.Now())
	if w.alarm != nil {
		w.alarm.Reset(left)
		return
	}
	w.alarm = w.r.st.clock.AfterFunc(left, func() {
		w.rang.Store(true)
		w.hub.Signal()
	})
}

// bind makes the end of a context wake the watch.
func (w *Watcher) bind(ctx context.Context) {
	if done := ctx.Done(); done != w.done {
		w.release()
		w.done = done
		w.unbind = context.AfterFunc(ctx, w.hub.Signal)
	}
}

func (w *Watcher) release() {
	if w.unbind != nil {
		w.unbind()
	}
}

// Close ends the watch. It may be called more than once.
func (w *Watcher) Close() {
	w.release()
	if w.alarm != nil {
		w.alarm.Stop()
	}
	if w.hub != nil {
		w.hub.Close()
	}
}
