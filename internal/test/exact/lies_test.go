package exact

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// past is a small history with a log that agrees with it. The operations are one after the other, except for the watch.
type past struct {
	h                                                         *History
	log                                                       *Log
	create, update, other, get, list, page, deleted, notFound *Operation
	watch, initial                                            *Watched
}

func at(name string, version uint64, write, color string) State {
	return State{Namespace: "default", Name: name, Version: version, UID: "uid-" + name, Write: write, Color: color}
}

func newPast() *past {
	a1, a2, b3 := at("a", 11, "w1", "red"), at("a", 12, "w2", "red"), at("b", 13, "w3", "blue")
	gone := at("a", 14, "w2", "red")
	h := &History{Limit: 2, first: 10, end: 14, Changes: []Change{
		{Type: watch.Added, Version: 11, New: a1}, {Type: watch.Modified, Version: 12, Old: &a1, New: a2},
		{Type: watch.Added, Version: 13, New: b3}, {Type: watch.Deleted, Version: 14, Old: &a2, New: gone},
	}}
	h.index()
	in := func(s State, precondition uint64) State {
		s.Version, s.UID = precondition, ""
		return s
	}
	p := &past{h: h, log: NewLog()}
	add := func(verb Verb, in, out State) *Operation {
		o := &Operation{Client: "client", Verb: verb, In: in, Out: out}
		return p.log.do(o, func() {})
	}
	p.create = add(Create, in(a1, 0), a1)
	p.update = add(Update, in(a2, 11), a2)
	p.get = add(Get, State{Namespace: "default", Name: "a"}, a2)
	p.other = add(Create, in(b3, 0), b3)
	p.list = add(List, State{}, State{})
	p.list.List, p.list.Page = ListOptions{Limit: 1}, Page{Items: []State{a2}, Version: 13, Continue: "token", Remaining: 1}
	p.page = add(List, State{}, State{})
	p.page.List, p.page.Page = ListOptions{Limit: 1, Continue: "token"}, Page{Items: []State{b3}, Version: 13, Remaining: -1}
	p.page.Before = p.list
	p.deleted = add(Delete, State{Namespace: "default", Name: "a", UID: "uid-a"}, State{Namespace: "default", Name: "a", UID: "uid-a"})
	p.notFound = add(Get, State{Namespace: "default", Name: "a"}, State{})
	p.notFound.Err = meta.NewNotFound(meta.GroupResource{}, "a")
	p.watch = &Watched{Client: "watcher", Begin: 1, First: 2, Options: WatchOptions{Color: "red", Version: "11"}, Complete: 14, Events: []Event{
		{Type: watch.Modified, State: a2}, {Type: watch.Deleted, State: gone},
	}}
	p.log.watched(p.watch)
	p.initial = &Watched{Client: "informer", Begin: p.list.Begin, First: p.list.End, Options: WatchOptions{Initial: true}, Complete: 14, Events: []Event{
		{Type: watch.Added, State: a2}, {Type: watch.Added, State: b3},
		{Type: watch.Bookmark, State: State{Version: 13}, InitialEnd: true},
		{Type: watch.Deleted, State: gone},
	}}
	p.log.watched(p.initial)
	return p
}

func errReplaced() error {
	return meta.NewStatusError(429, meta.ReasonTooManyRequests, nil, "")
}

func TestCheckFindsEachLie(t *testing.T) {
	require.Empty(t, Check(newPast().h, newPast().log))
	conflict := meta.NewConflict(meta.GroupResource{}, "a", "")
	for name, tt := range map[string]struct {
		lie  func(p *past)
		want string
	}{
		"a version is left out":                         {func(p *past) { p.h.Changes[3].Version = 15 }, "has version 15"},
		"a change replaces an old state":                {func(p *past) { p.h.Changes[3].Old = &p.h.Changes[0].New }, "but the state was"},
		"a change keeps no uid":                         {func(p *past) { p.h.Changes[1].New.UID = "x" }, "another uid than the state before"},
		"a confirmed write is lost":                     {func(p *past) { p.other.In.Write = "lost" }, "a confirmed write is not in the history"},
		"a change comes from nowhere":                   {func(p *past) { p.log.Operations = p.log.Operations[1:] }, "has no writer"},
		"a refused write takes place":                   {func(p *past) { p.update.Err = conflict }, "a refused write is in the history"},
		"a write returns another state":                 {func(p *past) { p.update.Out.Color = "blue" }, "a write returned another state"},
		"an update misses a precondition":               {func(p *past) { p.update.In.Version = 10 }, "an update replaced version 11"},
		"a create replaces an object":                   {func(p *past) { p.update.Verb = Create }, "a create replaced"},
		"a patch creates an object":                     {func(p *past) { p.create.Verb = Patch }, "a patch created"},
		"a deletion removes another uid":                {func(p *past) { p.deleted.In.UID = "uid-b" }, "a deletion removed another uid"},
		"a deletion is confirmed twice":                 {func(p *past) { p.log.Operations = append(p.log.Operations, p.deleted) }, "was confirmed twice"},
		"writes are not in real time":                   {func(p *past) { p.update.Begin, p.update.End = 90, 91 }, "which an earlier one had seen"},
		"a get is stale":                                {func(p *past) { p.get.Out = p.h.Changes[0].New }, "which an earlier one had seen"},
		"a get is of the future":                        {func(p *past) { p.get.Begin, p.get.End = 0, 0 }, "which an earlier one had seen"},
		"a get returns a mix":                           {func(p *past) { p.get.Out.Write = "w1" }, "a state that is not in the history"},
		"a get returns what was deleted":                {func(p *past) { p.notFound.Err, p.notFound.Out = nil, p.h.Changes[1].New }, "which an earlier one had seen"},
		"a get misses an object":                        {func(p *past) { p.get.Err = p.notFound.Err; p.get.Begin = p.update.End + 1 }, "which an earlier one had seen"},
		"a conflict has no reason":                      {func(p *past) { p.get.Verb, p.get.Err, p.get.In = Update, conflict, p.h.Changes[1].New }, "which an earlier one had seen"},
		"a refusal of another kind":                     {func(p *past) { p.get.Err = conflict }, "an unexpected refusal"},
		"a list leaves an item out":                     {func(p *past) { p.page.Page.Items = nil }, "other items than the state"},
		"a list has an old item":                        {func(p *past) { p.list.Page.Items[0] = p.h.Changes[0].New }, "other items than the state"},
		"a list is stale":                               {func(p *past) { p.list.Page.Version = 12 }, "which an earlier one had seen"},
		"a list is of a version to come":                {func(p *past) { p.list.Page.Version = 15 }, "a version that never was"},
		"a list is not of the exact version":            {func(p *past) { p.list.List.Version, p.list.List.Match = "12", "Exact" }, "not of the exact version"},
		"a list is older than asked for":                {func(p *past) { p.list.List.Version = "14" }, "older than it asked for"},
		"a page is of another version":                  {func(p *past) { p.page.Page.Version = 12 }, "another version than the page before"},
		"a token is missing":                            {func(p *past) { p.list.Page.Continue = "" }, "continue token"},
		"a count of the rest is wrong":                  {func(p *past) { p.list.Page.Remaining = 2 }, "remainingItemCount"},
		"history expires too early":                     {func(p *past) { p.page.Err = meta.NewExpired("") }, "history of 2 changes expired"},
		"a watch misses an event":                       {func(p *past) { p.watch.Events = p.watch.Events[1:] }, "not the next change"},
		"a watch misses the last event":                 {func(p *past) { p.watch.Events = p.watch.Events[:1] }, "misses the events from version 14 on"},
		"a watch repeats an event":                      {func(p *past) { p.watch.Events = append(p.watch.Events[:1], p.watch.Events...) }, "not the next change"},
		"a watch has the wrong type":                    {func(p *past) { p.watch.Events[0].Type = watch.Added }, "not the next change"},
		"a watch expires too early":                     {func(p *past) { p.watch.Err = meta.NewExpired("") }, "history of 2 changes expired"},
		"a watch is refused":                            {func(p *past) { p.watch.Err = conflict }, "a watch ended unexpectedly"},
		"a write is under a kind that was replaced":     {func(p *past) { p.h.Changes[0].New.Kind, p.h.Changes[1].Old.Kind, p.create.Out.Kind = 2, 2, 2 }, "is written under kind 0, after a change under kind 2"},
		"a write began after the change of its kind":    {func(p *past) { p.log.Swaps = []Swap{{Kind: 1}} }, "a write began after the change to kind 1"},
		"a write is under a kind that comes later":      {func(p *past) { p.log.Swaps = []Swap{{Begin: 90, End: 91}} }, "a write ended before the change to kind 0"},
		"a refusal says that the kind changed":          {func(p *past) { p.notFound.Err = errReplaced() }, "an unexpected refusal"},
		"a watch ends as if its kind had been replaced": {func(p *past) { p.watch.Err = errReplaced() }, "a watch ended unexpectedly"},
		"a bookmark overtakes an event": {func(p *past) {
			p.watch.Events = []Event{{Type: watch.Bookmark, State: State{Version: 12}}}
		}, "not the next change"},
		"initial events leave an object out":       {func(p *past) { p.initial.Events = p.initial.Events[1:] }, "initial events are not the state"},
		"initial events are stale":                 {func(p *past) { p.initial.Events = p.initial.Events[:3]; p.initial.Begin = p.deleted.End + 1 }, "which an earlier one had seen"},
		"initial events have no end":               {func(p *past) { p.initial.Events = p.initial.Events[:2] }, "no end of its initial events"},
		"the state and the events are taken apart": {func(p *past) { p.initial.Options.Initial, p.initial.Events = false, p.initial.Events[1:] }, "do not begin with the state of any version"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPast()
			tt.lie(p)
			findings := strings.Join(Check(p.h, p.log), "\n")
			assert.Contains(t, findings, tt.want)
		})
	}
}

func TestCheckAcceptsAWriteWithoutAnswer(t *testing.T) {
	p := newPast()
	p.update.Err, p.update.Out = errors.New("connection lost"), State{}
	p.deleted.Err, p.deleted.Out = errors.New("connection lost"), State{}
	assert.Empty(t, Check(p.h, p.log))
}
