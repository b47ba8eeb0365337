package consistency

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/exact"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Report is the result of comparing the answers and events with the changes of the store.
type Report struct {
	Findings []string // the mistakes of the server
	// Complete reports whether the store recorded all its changes.
	Complete bool
	// Changes, Answers, Events and Watches are the numbers of each that were compared.
	Changes, Answers, Events, Watches int
}

// Report compares all that is recorded so far. It may leave out requests that are still running.
func (a *API) Report() Report {
	calls := a.rec.recorded() // before Recorded: the store must have every change that the calls show
	resources := map[string]*registry.Resource{}
	for _, kind := range a.kinds {
		r := a.rec.st.Resource(kind.Registered())
		resources[meta.GroupResource{Group: r.Info().Group, Resource: r.Info().Plural}.String()] = r
	}
	return report(a.rec.st.Recorded(), resources, calls)
}

func report(rec registry.Recorded, resources map[string]*registry.Resource, calls []*call) Report {
	out := Report{Changes: len(rec.Changes), Complete: rec.Complete}
	if !rec.Complete {
		return out
	}
	t := &translation{items: map[uint64]*registry.Item{}, byOrigin: map[uint64][]*exact.Change{}, log: exact.NewLog()}
	t.history = exact.NewRequestHistory(rec, func(c registry.RecordedChange) string {
		t.items[c.Version] = c.New
		if c.Origin == 0 {
			return ""
		}
		return fmt.Sprintf("request %d change %d", c.Origin, c.Version)
	})
	for i, c := range rec.Changes {
		if c.Origin != 0 {
			t.byOrigin[c.Origin] = append(t.byOrigin[c.Origin], &t.history.Changes[i])
		}
	}
	for _, c := range calls {
		name := meta.GroupResource{Group: c.Group, Resource: c.Resource}.String()
		switch r := resources[name]; {
		case r == nil:
		case c.Verb == "watch" && c.status == http.StatusOK:
			if t.watch(c, name, r) {
				out.Watches++
				out.Events += len(c.events)
			}
		case c.Verb != "watch":
			out.Answers++
			t.call(c, name, r)
		}
	}
	out.Findings = exact.Check(t.history, t.log)
	return out
}

// translation turns the calls of a recorder into operations of package exact.
type translation struct {
	history  *exact.History
	items    map[uint64]*registry.Item
	byOrigin map[uint64][]*exact.Change
	log      *exact.Log
}

// errUnknown is the error of a call without an answer, or with one that leaves its outcome open.
var errUnknown = errors.New("no answer")

// refused returns the error of a refused call.
func (c *call) refused(reason meta.Reason) error {
	return meta.NewStatusError(c.status, reason, nil, fmt.Sprint("answered ", c.status))
}

// call adds the operations of a call.
func (t *translation) call(c *call, resource string, r *registry.Resource) {
	o := &exact.Operation{Client: c.client, Begin: c.begin, End: c.end, Floor: c.floor}
	o.In = exact.State{Resource: resource, Namespace: c.Namespace, Name: c.Name, Version: c.base}
	if c.Verb == "create" || o.In.Name == "" {
		o.In.Name = c.answer.name
	}
	changes := t.byOrigin[c.origin]
	if o.Effect = fmt.Sprint("request ", c.origin); len(changes) > 0 {
		o.Effect = changes[0].Effect
	}
	switch c.Verb {
	case "get":
		o.Verb, o.In.Version = exact.Get, c.requested()
	case "list":
		o.Verb, o.List.Version = exact.List, c.query.Get("resourceVersion")
		if o.Page = (exact.Page{Version: c.answer.version, Headless: true}); c.stale {
			o.List.Version = "0"
		}
		if c.query.Get("continue") != "" || o.Page.Version == 0 {
			return
		}
	case "create":
		o.Verb = exact.Create
	case "update", "apply":
		o.Verb = exact.Update
	case "patch":
		if o.Verb = exact.Patch; c.base != 0 {
			o.Verb = exact.Update
		}
	case "delete", "deletecollection":
		o.Verb = exact.Delete
	}
	switch {
	case c.status == 0 || c.status >= 500:
		o.Err = errUnknown
	case c.status == http.StatusNotFound && c.Subresource == "" && c.answer.name == c.Name && (o.Verb == exact.Get || o.Verb == exact.Delete):
		o.Err = c.refused(meta.ReasonNotFound)
	case c.status == http.StatusConflict && c.answer.reason == meta.ReasonAlreadyExists && o.Verb == exact.Create:
		o.Err = c.refused(meta.ReasonAlreadyExists)
	case c.status >= 300 || c.dryRun:
		o.Err = c.refused("Refused")
	}
	switch {
	case c.Verb == "deletecollection":
		t.deleteCollection(c, o, r)
		return
	case o.Verb != exact.List && o.Err == nil && (o.Verb != exact.Get || c.answer.version != 0):
		o.Out = t.answered(c, o.In, changes)
	case o.Verb == exact.Get && o.Err == nil:
		return // a HEAD, or a format without a version
	}
	t.log.Add(o)
	for _, other := range changes[min(1, len(changes)):] { // a request makes one change
		again := *o
		again.Effect, again.Verb = other.Effect, exact.Create
		again.Err = c.refused("Refused")
		t.log.Add(&again)
	}
}

// requested returns the lowest version that a get may show, 1 for any and 0 for the latest.
func (c *call) requested() uint64 {
	text := c.query.Get("resourceVersion")
	version, _ := strconv.ParseUint(text, 10, 64)
	if version == 0 && (text != "" || c.stale) {
		return 1
	}
	return version
}

// answered returns the state that a call was answered with. Its content is known by its version.
func (t *translation) answered(c *call, in exact.State, changes []*exact.Change) exact.State {
	s := c.answer.state(in, t.history.At(c.answer.version))
	if len(changes) > 0 {
		// A write that removes the last finalizer deletes the object, and is answered with the version before the deletion.
		made := changes[0]
		if s.Version == 0 || made.Type == watch.Deleted && s.Version == made.Old.Version {
			s = c.answer.named(made.New)
		}
	}
	if c.wrong {
		s.Write = "wrong content"
	}
	return s
}

// state returns the state that a head describes. ch made its version and may be nil. Missing values come from ch, or else from in.
func (h head) state(in exact.State, ch *exact.Change) exact.State {
	s := exact.State{Resource: in.Resource, Namespace: in.Namespace, Name: in.Name}
	if ch != nil && ch.New.Resource == in.Resource {
		s = ch.New
	}
	s.Version = h.version
	return h.named(s)
}

// named returns the state with the name and uid that the head has.
func (h head) named(s exact.State) exact.State {
	if h.name != "" {
		s.Name = h.name
	}
	if h.uid != "" {
		s.UID = h.uid
	}
	return s
}

// deleteCollection adds a deletion for each change, and one for each selected object that exists during the whole call and stays.
func (t *translation) deleteCollection(c *call, o *exact.Operation, r *registry.Resource) {
	add := func(effect string, s exact.State) {
		one := *o
		one.Effect, one.In = effect, s
		t.log.Add(&one)
	}
	for _, ch := range t.byOrigin[c.origin] {
		add(ch.Effect, ch.New)
	}
	selects, err := r.Selects(c.selection())
	if o.Err != nil || err != nil || c.query.Get("limit")+c.query.Get("continue")+c.query.Get("resourceVersion") != "" {
		return
	}
	for _, s := range t.history.Survivors(c.floor) {
		if it := t.items[s.Version]; s.Resource == o.In.Resource && selects(it) && it.Metadata().DeletionTimestamp == nil {
			add("deletion of what is left", s)
		}
	}
}

// selection returns the namespace, name and selectors of a call.
func (c *call) selection() registry.WatchOptions {
	return registry.WatchOptions{
		Namespace: c.Namespace, Name: c.Name, LabelSelector: c.query.Get("labelSelector"),
		FieldSelector: c.query.Get("fieldSelector"), ShardSelector: c.query.Get("shardSelector"),
	}
}

// watch adds a watch, and reports whether its selectors are right.
func (t *translation) watch(c *call, resource string, r *registry.Resource) bool {
	selects, err := r.Selects(c.selection())
	if err != nil {
		return false
	}
	w := &exact.Watched{Client: c.client, Begin: c.begin, First: c.first, End: c.end, Floor: c.floor, Options: exact.WatchOptions{
		Resource: resource, Namespace: c.Namespace, Name: c.Name, Version: c.query.Get("resourceVersion"),
		Selects: func(s exact.State) bool { return selects(t.items[s.Version]) },
	}}
	if c.stale && w.Options.Version == "" {
		w.Options.Version = "0"
	}
	if sends := c.query["sendInitialEvents"]; len(sends) > 0 {
		if sends[0] == "0" || strings.EqualFold(sends[0], "false") {
			w.Options.NoState = true
		} else if w.Options.Initial = c.query.Has("allowWatchBookmarks"); !w.Options.Initial {
			w.Options.Version = "0"
		}
	}
	for _, e := range c.events {
		if w.Err != nil || e.kind == watch.Error {
			w.Err = errUnknown
		}
		w.Events = append(w.Events, exact.Event{Type: e.kind, State: t.event(e, resource), InitialEnd: e.initialEnd})
	}
	if n := len(w.Events); w.Err != nil && w.Events[n-1].Type == watch.Error {
		w.Events = w.Events[:n-1]
	}
	t.log.AddWatch(w)
	return true
}

// event returns the state of an event. An object that leaves a selector has its old content and the new version.
func (t *translation) event(e event, resource string) exact.State {
	in := exact.State{Resource: resource}
	if e.kind == watch.Bookmark {
		return exact.State{Version: e.head.version}
	}
	ch := t.history.At(e.head.version)
	if ch != nil && ch.Old != nil && ch.Type != watch.Deleted && e.kind == watch.Deleted {
		ch = &exact.Change{New: *ch.Old}
	}
	return e.head.state(in, ch)
}
