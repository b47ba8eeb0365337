package registry

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// WatchOptions says what to watch (API reference, "ListOptions" with
// watch=true). The zero value watches everything, starting with the current
// state as Added events.
type WatchOptions struct {
	// Namespace limits the watch to one namespace; "" is all. Name limits it
	// to one object, as the selector metadata.name does.
	Namespace, Name string
	// LabelSelector, FieldSelector and ShardSelector are in the API's syntax;
	// see package selector.
	LabelSelector, FieldSelector, ShardSelector string
	// ResourceVersion is what to start after. "" and "0" start with the
	// current state.
	ResourceVersion string
	// ResourceVersionMatch must be "NotOlderThan" where SendInitialEvents is
	// given, and empty otherwise.
	ResourceVersionMatch string
	// SendInitialEvents asks for the current state first, or for no state.
	SendInitialEvents *bool
	// AllowWatchBookmarks asks for events that tell only a version: one after
	// the initial events, then about every minute.
	AllowWatchBookmarks bool
	// Continue is for lists; giving it here is an error in most cases.
	Continue string
	// Timeout ends the watch. Zero means no limit; below zero it ends at once.
	Timeout time.Duration
	// ListRules checks the options as those of a list, as the deprecated paths
	// below /watch/ do: the options for initial events are refused.
	ListRules bool
	// Warn, if not nil, is given texts to be sent along with the answer.
	Warn func(text string)
}

// Timing of watches (upstream: apiserver, storage/cacher and
// endpoints/handlers).
const (
	bookmarkInterval = time.Minute
	// bookmarkBeforeEnd is when a watch that is about to end tells how far it
	// came.
	bookmarkBeforeEnd = 2 * time.Second
)

// initialEventsEnd marks the bookmark that follows the initial events.
const initialEventsEnd = "k8s.io/initial-events-end"

// ItemEvent is one event of a watch.
type ItemEvent struct {
	Type watch.EventType
	Item *Item
	// InitialEnd marks the bookmark that follows the initial events.
	InitialEnd bool
}

// Watcher is an open watch. Its methods are for one goroutine.
type Watcher struct {
	r   *Resource
	sel selection
	hub *hub.Watcher[change]
	err error // what to end with, once the events are out

	initial   []*Item // what is left of the initial state
	version   uint64  // of the last event or bookmark
	endMark   bool    // the bookmark after the initial events is due
	bookmarks bool

	deadline time.Time // zero is none
	next     time.Time // when the next bookmark is due
	alarm    alarm     // for the deadline and bookmarks
	lastMark bool      // the bookmark before the end is out

	worker  *atwork.Worker // who is woken
	stays   bool           // and at work when Next has returned
	replica *Replica       // that the watch is of, or nil
	at      position       // of the replica

	changes []*hub.Change[change]
	events  []ItemEvent
}

// Watch opens a watch. Errors are those of the options alone: that a version
// is too old, or too far ahead, is what the first Next returns. The caller must
// Close the Watcher.
func (r *Resource) Watch(ctx context.Context, opts WatchOptions) (*Watcher, error) {
	sel, err := r.parseSelection(opts.Namespace, opts.LabelSelector, opts.FieldSelector)
	if err != nil {
		return nil, err
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	if err := sel.checkFields(opts.Name); err != nil {
		return nil, err
	}
	if err := sel.parseShards(opts.ShardSelector, opts.Warn); err != nil {
		return nil, err
	}
	version, err := readVersion(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	w := &Watcher{r: r, sel: sel, bookmarks: opts.AllowWatchBookmarks, replica: r.st.replicaOf(ctx), worker: atwork.From(ctx)}
	if w.stays = w.worker != nil; !w.stays {
		w.worker = atwork.New(r.st.clock)
	}
	w.setTimes(&opts)
	w.err = w.start(ctx, opts, version)
	return w, nil
}

// check validates the options and fills in what they leave out.
func (o *WatchOptions) check() error {
	if !o.ListRules {
		o.setDefaults()
		return o.validate()
	}
	list := ListOptions{
		Continue: o.Continue, ResourceVersion: o.ResourceVersion,
		ResourceVersionMatch: o.ResourceVersionMatch, SendInitialEvents: o.SendInitialEvents,
	}
	return list.validate()
}

// setDefaults makes a watch without a version one that sends the current state
// first (upstream: the gate WatchList).
func (o *WatchOptions) setDefaults() {
	if o.SendInitialEvents == nil && o.ResourceVersionMatch == "" && (o.ResourceVersion == "" || o.ResourceVersion == "0") {
		o.SendInitialEvents, o.ResourceVersionMatch = new(true), MatchNotOlderThan
	}
}

func (o *WatchOptions) validate() error {
	const match = field.Path("resourceVersionMatch")
	var errs field.Errors
	if o.SendInitialEvents != nil && o.ResourceVersionMatch != MatchNotOlderThan {
		errs = append(errs, field.Forbidden(match, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	}
	if m := o.ResourceVersionMatch; m != "" {
		if o.SendInitialEvents == nil {
			errs = append(errs, field.Forbidden(match, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
		}
		if m != MatchNotOlderThan {
			errs = append(errs, field.NotSupported(match, m, MatchNotOlderThan))
		}
		if o.Continue != "" {
			errs = append(errs, field.Forbidden(match, "resourceVersionMatch is forbidden when continue is provided"))
		}
	}
	return optionsError("ListOptions", errs)
}

func (w *Watcher) setTimes(opts *WatchOptions) {
	now := w.r.st.clock.Now()
	if opts.Timeout != 0 {
		w.deadline = now.Add(opts.Timeout)
	}
	w.next = now.Add(bookmarkInterval)
	w.alarm = alarm{worker: w.worker, clock: w.r.st.clock}
}

// start finds the position to watch from and the state to send first.
func (w *Watcher) start(ctx context.Context, opts WatchOptions, version uint64) error {
	if w.replica != nil {
		return w.startOnReplica(ctx, opts, version)
	}
	st, sends := w.r.st, opts.SendInitialEvents
	if sends == nil && version == 0 {
		return w.startWithState(false)
	}
	if sends != nil && *sends {
		if err := st.waitFor(ctx, version); err != nil {
			return err
		}
		return w.startWithState(w.bookmarks)
	}
	if sends != nil && version == 0 {
		version = st.ResourceVersion()
	}
	return w.open(version, st.now())
}

func (w *Watcher) open(after uint64, now time.Time) error {
	hub, err := w.r.st.hub.WatchFunc(w.sel.scope(w.r.id), after, now, w.woken())
	if err != nil {
		return expiredWatch(err)
	}
	w.hub, w.version = hub, after
	return nil
}

// woken returns what a writer calls before it wakes the watch, or nil.
func (w *Watcher) woken() func() {
	if w.worker == nil {
		return nil
	}
	return w.worker.Wake
}

// startWithState takes the current state and the position that follows it in
// one step, so that no change is lost or told twice.
func (w *Watcher) startWithState(endMark bool) error {
	st := w.r.st
	now := st.now()
	st.mu.Lock()
	s := w.r.snapshotLocked()
	err := w.open(s.version, now)
	st.mu.Unlock()
	if err != nil {
		return err
	}
	w.initial = w.sel.page(s, "", 0).Items
	w.endMark = endMark
	return nil
}

// expiredWatch turns the error of the history into that of the API.
func expiredWatch(err error) error {
	if e, ok := errors.AsType[*hub.ExpiredError](err); ok {
		return meta.NewExpired(e.Error())
	}
	return err
}

// Next returns the events that are ready, at least one, and waits for them if
// need be. The slice is valid until the next call. The error is io.EOF when
// the watch has reached its timeout, ErrClosed when the store was closed, that
// of ctx, or a *meta.StatusError: the watch expired, or its version never came.
func (w *Watcher) Next(ctx context.Context) ([]ItemEvent, error) {
	if !w.stays {
		defer w.worker.Away()
	}
	for {
		seen := w.worker.Wakes()
		if w.err == nil {
			w.err = w.ended(ctx)
		}
		if w.err != nil {
			return nil, w.err
		}
		if w.poll(); len(w.events) > 0 {
			return w.events, nil
		}
		if w.err == nil {
			w.err = w.wait(ctx, seen)
		}
	}
}

// ended returns why a watch is over, however much there is still to tell.
func (w *Watcher) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-w.r.st.hub.Done():
		return ErrClosed
	default:
	}
	if w.isOver(w.deadline) {
		return io.EOF
	}
	return nil
}

// isOver reports whether a moment has come; the zero time never does.
func (w *Watcher) isOver(t time.Time) bool {
	return !t.IsZero() && !w.r.st.clock.Now().Before(t)
}

// lastBookmark returns when the bookmark before the end is due, or the zero time.
func (w *Watcher) lastBookmark() time.Time {
	if w.deadline.IsZero() {
		return time.Time{}
	}
	return w.deadline.Add(-bookmarkBeforeEnd)
}

// earliest returns the first of two moments, where the zero time is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// initialBatch bounds how many initial events one Next returns.
const initialBatch = 256

// poll fills events with what is ready.
func (w *Watcher) poll() {
	w.events = w.events[:0]
	if len(w.initial) > 0 {
		n := min(len(w.initial), initialBatch)
		for _, it := range w.initial[:n] {
			w.events = append(w.events, ItemEvent{Type: watch.Added, Item: it})
		}
		w.initial = w.initial[n:]
		if len(w.initial) > 0 {
			return
		}
		w.initial = nil
	}
	if w.endMark {
		w.endMark = false
		w.bookmark(w.version, true)
		return
	}
	w.readHistory()
	w.tick()
}

func (w *Watcher) readHistory() {
	last := w.readUntil()
	for len(w.events) == 0 && w.err == nil {
		changes, more, err := w.hub.PollUntil(w.changes[:0], last)
		w.changes = changes
		if err != nil {
			w.err = expiredWatch(err)
		}
		for _, c := range changes {
			if ev := w.sel.event(c); ev.Item != nil {
				w.events = append(w.events, ev)
				w.version = c.Version
			}
		}
		clear(changes) // history is not to be held by an idle watcher
		if !more {
			return
		}
	}
}

// event tells how a change looks to a selection: an object that comes into
// view is added, one that leaves it is deleted.
func (s *selection) event(c *hub.Change[change]) ItemEvent {
	before := s.matches(c.Payload.old)
	after := c.Payload.eventType != watch.Deleted && s.matches(c.Payload.new)
	switch {
	case before && after:
		return ItemEvent{Type: watch.Modified, Item: c.Payload.new}
	case after:
		return ItemEvent{Type: watch.Added, Item: c.Payload.new}
	case before && c.Payload.eventType == watch.Deleted:
		return ItemEvent{Type: watch.Deleted, Item: c.Payload.new}
	case before:
		return ItemEvent{Type: watch.Deleted, Item: c.Payload.left.of(c.Payload.old, c.Version)}
	}
	return ItemEvent{}
}

// tick adds a bookmark where one is due: after the events that are told with
// it, or, where there are none, for all that happened elsewhere.
func (w *Watcher) tick() {
	if !w.bookmarks || w.err != nil {
		return
	}
	now := w.r.st.clock.Now()
	ending := !w.lastMark && w.isOver(w.lastBookmark())
	if !ending && now.Before(w.next) {
		return
	}
	version, ok := w.settled()
	if !ok && len(w.events) == 0 && w.replica == nil {
		return
	}
	w.next = now.Add(bookmarkInterval)
	w.lastMark = w.lastMark || ending
	if !ok && len(w.events) == 0 {
		return // the replica is behind what the watch started at
	}
	w.bookmark(max(version, w.version), false)
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

// wait blocks until poll may find something. seen is how often the worker had been
// woken before it looked.
func (w *Watcher) wait(ctx context.Context, seen uint64) error {
	until := earliest(w.deadline, w.replicaDue())
	if w.bookmarks {
		until = earliest(until, w.next)
		if !w.lastMark {
			until = earliest(until, w.lastBookmark())
		}
	}
	if !until.IsZero() {
		w.alarm.set(until.Sub(w.r.st.clock.Now()))
	}
	if !w.worker.Rest(seen) {
		return nil
	}
	if w.stays {
		defer w.worker.Work()
	}
	select {
	case <-w.hub.Wake():
	case <-w.at.moved:
	case <-w.at.grown:
	case <-w.alarm.rings():
	case <-w.r.st.hub.Done():
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Close ends the watch and frees all it holds. It may be called more than
// once.
func (w *Watcher) Close() {
	w.alarm.stop()
	if w.hub != nil {
		w.hub.Close()
	}
}
