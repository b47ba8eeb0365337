package consistency

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/watch"
)

// watches finds watches whose events contradict the history.
func (v *verifier) watches() {
	var order []*call
	events := map[*call][]observation{}
	for _, t := range v.log {
		if t.call.verb != "watch" || t.kind == errorAnswer || t.kind == noAnswer || v.resources[t.call.groupResource()] == nil {
			continue
		}
		if events[t.call] == nil {
			order = append(order, t.call)
		}
		events[t.call] = append(events[t.call], t)
		v.out.Events++
	}
	v.out.Watches = len(order)
	for _, c := range order {
		w := &watchCheck{history: v.history, call: c, events: events[c], resource: v.resources[c.groupResource()]}
		var err error
		if w.selects, err = w.resource.Selects(c.selection()); err != nil {
			continue
		}
		if p := w.run(); p != nil {
			v.find(BrokenWatch, w.excerpt(p), "watch %s %s by %s %s", c.resource, c.scope(), c.clientName(), p.text)
		}
	}
}

// selection returns the namespace, name and selectors of a call.
func (c *call) selection() registry.WatchOptions {
	return registry.WatchOptions{
		Namespace: c.namespace, Name: c.name, LabelSelector: c.query.Get("labelSelector"),
		FieldSelector: c.query.Get("fieldSelector"), ShardSelector: c.query.Get("shardSelector"),
	}
}

// scope returns the path and the selectors of a call as text.
func (c *call) scope() string {
	text := objectPath(c.namespace, c.name)
	for _, name := range []string{"labelSelector", "fieldSelector", "shardSelector", "resourceVersion"} {
		if value := c.query.Get(name); value != "" {
			text += " " + name + "=" + value
		}
	}
	return text
}

// sends returns the parameter sendInitialEvents.
func (c *call) sends() (value, given bool) {
	values := c.query["sendInitialEvents"]
	return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false"), len(values) > 0
}

// startsWithState reports whether a watch begins with the objects that exist.
func (c *call) startsWithState() bool {
	if sends, given := c.sends(); given {
		return sends
	}
	version := c.query.Get("resourceVersion")
	return version == "" || version == "0"
}

// watchCheck compares the events of a watch with the history.
type watchCheck struct {
	*history
	call     *call
	events   []observation
	resource *registry.Resource
	selects  func(*registry.Item) bool
}

// flaw is the first event of a watch that contradicts the history.
type flaw struct {
	at      int // the event, by its index
	text    string
	missing []registry.RecordedChange
}

// mostStarts bounds how many versions are tried as the start of a watch.
const mostStarts = 1000

// run returns nil if all events are right for some version at which the watch may have begun. Otherwise it returns the flaw
// furthest into the watch.
func (w *watchCheck) run() (p *flaw) {
	c := w.call
	requested, _ := strconv.ParseUint(c.query.Get("resourceVersion"), 10, 64)
	if requested > 0 && !c.startsWithState() {
		return w.follow(max(requested, w.Since), false)
	}
	low, high := max(requested, c.floor), c.ceiling
	if c.stale || requested > 0 || c.query.Get("resourceVersion") == "0" {
		low = max(requested, w.Since)
	}
	for _, t := range w.events {
		if t.kind == initialEndEvent {
			if t.head.ResourceVersion < low || t.head.ResourceVersion > high {
				return &flaw{text: fmt.Sprintf("began with the state of version %d, but the store was between versions %d and %d", t.head.ResourceVersion, low, high)}
			}
			low, high = t.head.ResourceVersion, t.head.ResourceVersion
			break
		}
	}
	changes := w.byResource[w.resource]
	for n, first := w.after(changes, high), w.after(changes, low); ; n-- {
		start := low
		if n > first {
			start = w.Changes[changes[n-1]].Version
		}
		q := w.follow(start, c.startsWithState())
		if q == nil {
			return nil
		}
		if p == nil || q.at > p.at {
			p = q
		}
		if start == low || n < w.after(changes, high)-mostStarts {
			return p
		}
	}
}

// follow checks the events of the watch as if it had begun at a version.
func (w *watchCheck) follow(start uint64, withState bool) *flaw {
	f := follower{watchCheck: w, at: start, next: w.after(w.byResource[w.resource], start), seen: map[objectKey]bool{}}
	initial := map[uint64]objectKey{} // by version, the objects that must come first
	for _, k := range w.objects() {
		if it := w.stateAt(k, start); w.selects(it) {
			f.seen[k] = true
			if withState {
				initial[it.Version()] = k
			}
		}
	}
	for i, t := range w.events {
		p := &flaw{at: i}
		switch {
		case f.ended:
			p.text = "sent an event after ERROR"
		case t.kind == errorEvent:
			f.ended = true
			continue
		case t.head.ResourceVersion == 0:
			p.text = "sent an event without a version"
		case len(initial) > 0:
			k, wanted := initial[t.head.ResourceVersion]
			switch {
			case !wanted:
				p.text = fmt.Sprintf("sent %s before all objects that existed at %d", t, start)
				for _, version := range slices.Sorted(maps.Keys(initial)) {
					p.missing = append(p.missing, registry.RecordedChange{Resource: w.resource, Type: watch.Added, Version: version, New: w.stateAt(initial[version], start)})
				}
			case t.kind != addedEvent:
				p.text = fmt.Sprintf("sent an object that existed at %d as %s", start, t)
			case !t.names(k):
				p.text = fmt.Sprintf("sent the wrong object for version %d", t.head.ResourceVersion)
			default:
				delete(initial, t.head.ResourceVersion)
				continue
			}
		case t.kind == initialEndEvent && t.head.ResourceVersion == f.at:
			continue
		default:
			if p.text, p.missing = f.take(t); p.text == "" {
				continue
			}
		}
		if t.isObject() && slices.ContainsFunc(w.events[:i], func(o observation) bool { return o.isObject() && o.head.ResourceVersion == t.head.ResourceVersion }) {
			p.text, p.missing = fmt.Sprintf("sent %d twice", t.head.ResourceVersion), nil
		}
		return p
	}
	return nil
}

// names reports whether an event is about the object k, or has no name.
func (t observation) names(k objectKey) bool {
	return t.head.Name == "" || t.head.Name == k.name && t.head.Namespace == k.namespace
}

// isObject reports whether t is an event of an object.
func (t observation) isObject() bool {
	return t.kind == addedEvent || t.kind == modifiedEvent || t.kind == deletedEvent
}

// objects returns the keys that the watch may select.
func (w *watchCheck) objects() []objectKey {
	if w.call.namespace != "" && w.call.name != "" {
		return []objectKey{{w.resource, w.call.namespace, w.call.name}}
	}
	return w.keys[w.resource]
}

// follower is the progress of a watch.
type follower struct {
	*watchCheck
	at    uint64             // the version of the last event
	next  int                // index of the next change of the resource
	seen  map[objectKey]bool // the objects that the client knows
	ended bool
}

// event returns the type of the event that the watch must send for a change, or "".
func (f *follower) event(c *registry.RecordedChange) watch.EventType {
	before, after := f.seen[keyOf(c.Resource, c.New)], c.Type != watch.Deleted && f.selects(c.New)
	switch {
	case before && after:
		return watch.Modified
	case before:
		return watch.Deleted
	case after:
		return watch.Added
	}
	return ""
}

// take compares an event with the changes up to its version. It returns an error text, or "".
func (f *follower) take(t observation) (text string, missing []registry.RecordedChange) {
	bookmark := t.kind == bookmarkEvent || t.kind == initialEndEvent
	switch {
	case t.head.ResourceVersion > f.Version:
		return "sent a version that the store has not reached: " + t.String(), nil
	case t.head.ResourceVersion == f.at && !bookmark:
		return fmt.Sprintf("sent %s, but it was already at %d", t, f.at), nil
	case t.head.ResourceVersion < f.at:
		return fmt.Sprintf("sent %s after %d", t, f.at), nil
	}
	var want watch.EventType
	var wanted *registry.RecordedChange
	changes := f.byResource[f.resource]
	for ; f.next < len(changes) && f.Changes[changes[f.next]].Version <= t.head.ResourceVersion; f.next++ {
		c := &f.Changes[changes[f.next]]
		event := f.event(c)
		if event == "" {
			continue
		}
		f.seen[keyOf(c.Resource, c.New)] = event != watch.Deleted
		if c.Version == t.head.ResourceVersion && !bookmark {
			want, wanted = event, c
			continue
		}
		left := *c
		left.Type = event
		missing = append(missing, left)
	}
	f.at = t.head.ResourceVersion
	switch {
	case len(missing) > 0:
		return fmt.Sprintf("did not send %d before %s", missing[0].Version, t), missing
	case bookmark:
		return "", nil
	case wanted == nil:
		return fmt.Sprintf("sent %s, which is not a change of a selected object", t), nil
	case t.eventType() != want:
		return fmt.Sprintf("sent %s, want %s after its earlier events", t, want), nil
	case !t.names(keyOf(wanted.Resource, wanted.New)):
		return fmt.Sprintf("sent %s with the wrong object, want %s", t, keyOf(wanted.Resource, wanted.New)), nil
	}
	return "", nil
}

// eventType returns the type of the event.
func (t observation) eventType() watch.EventType {
	switch t.kind {
	case addedEvent:
		return watch.Added
	case modifiedEvent:
		return watch.Modified
	case deletedEvent:
		return watch.Deleted
	case bookmarkEvent, initialEndEvent:
		return watch.Bookmark
	}
	return watch.Error
}

// String returns the type and the version.
func (t observation) String() string {
	if t.kind == errorEvent {
		return "ERROR"
	}
	return fmt.Sprintf("%s %d", t.eventType(), t.head.ResourceVersion)
}

// excerpt returns the events around a flaw as text.
func (w *watchCheck) excerpt(p *flaw) (lines []string) {
	first := max(0, p.at-excerptLines/2)
	if first > 0 {
		lines = append(lines, "…")
	}
	for _, t := range w.events[first:p.at] {
		lines = append(lines, "  sent "+w.eventLine(t))
	}
	for i, c := range p.missing {
		if i == excerptLines/2 {
			lines = append(lines, fmt.Sprintf("- … and %d more", len(p.missing)-i))
			break
		}
		lines = append(lines, "- miss "+w.line(&c))
	}
	if p.at < len(w.events) {
		lines = append(lines, "> sent "+w.eventLine(w.events[p.at]))
	}
	return lines
}

// eventLine returns the text of an event and its object.
func (w *watchCheck) eventLine(t observation) string {
	text := t.String()
	if c := w.change(t.head.ResourceVersion); c != nil && t.kind != bookmarkEvent && t.kind != initialEndEvent && c.Resource == w.resource {
		text += " " + keyOf(c.Resource, c.New).String()
	}
	return text
}
