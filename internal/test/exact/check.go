package exact

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// checker compares a Log with a History.
type checker struct {
	*History
	log      *Log
	findings []string
	points   []point
}

// point is where an operation took place: at version low, and not before version floor if floor is set by a function.
type point struct {
	begin, end uint64
	what       fmt.Stringer
	// place returns the lowest version at which the operation can have taken place, if all operations that ended before it took place
	// at floor or before. It returns false if there is none.
	place func(floor uint64) (low uint64, ok bool)
}

// Check returns the contradictions between the log and the history, at most 20.
func Check(h *History, l *Log) []string {
	c := &checker{History: h, log: l}
	c.checkHistory()
	if len(c.findings) == 0 { // the other rules need the history
		begin := max(h.first, h.Forked)
		c.add(0, 0, beginning(begin), func(uint64) (uint64, bool) { return begin, true })
		c.checkWrites()
		c.checkKinds()
		ceilings := c.ceilings()
		for _, o := range l.Operations {
			c.checkOperation(o, ceilings(o.End))
		}
		for _, w := range l.Watches {
			c.checkWatch(w, ceilings(w.End))
		}
		c.checkOrder()
	}
	return c.findings[:min(len(c.findings), 20)]
}

func (c *checker) find(format string, args ...any) {
	c.findings = append(c.findings, fmt.Sprintf(format, args...))
}

// String describes an operation in a finding.
func (o *Operation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s [%d, %d]", o.Verb, o.Client, o.Begin, o.End)
	if o.Verb == List {
		fmt.Fprintf(&b, " %+v: version %d, %d items", o.List, o.Page.Version, len(o.Page.Items))
	} else {
		fmt.Fprintf(&b, " %+v: %+v", o.In, o.Out)
	}
	if o.Err != nil {
		fmt.Fprintf(&b, ": %v", o.Err)
	}
	return b.String()
}

// beginning is the version at which a store began, or was forked.
type beginning uint64

// String describes a beginning in a finding.
func (v beginning) String() string { return fmt.Sprintf("the store began at %d", uint64(v)) }

// String describes a watch in a finding.
func (w *Watched) String() string {
	return fmt.Sprintf("watch of %s [%d, %d] %+v: %d events, %v", w.Client, w.Begin, w.End, w.Options, len(w.Events), w.Err)
}

// checkHistory checks that each change has the next version, and the state before it as its old one.
func (c *checker) checkHistory() {
	now, uids := map[key]*State{}, map[string]bool{}
	for i := range c.Changes {
		ch := &c.Changes[i]
		k := ch.New.key()
		want := c.first + uint64(i) + 1
		if c.gaps && i > 0 {
			want = max(ch.Version, c.Changes[i-1].Version)
		} else if c.gaps {
			want = max(ch.Version, want)
		}
		if ch.Version != want || ch.New.Version != want {
			c.find("change %d has version %d and its object %d, want %d", i, ch.Version, ch.New.Version, want)
		}
		if old := now[k]; (old == nil) != (ch.Old == nil) || old != nil && *old != *ch.Old {
			c.find("change %d of %s replaced %+v, but the state was %+v", ch.Version, k, ch.Old, old)
		}
		switch {
		case (ch.Type == watch.Added) != (ch.Old == nil):
			c.find("change %d of %s is %s, and the state before is %+v", ch.Version, k, ch.Type, ch.Old)
		case ch.Type == watch.Added && uids[ch.New.UID]:
			c.find("change %d of %s has a uid that was there before", ch.Version, k)
		case ch.Type != watch.Added && ch.New.UID != ch.Old.UID:
			c.find("change %d of %s has another uid than the state before", ch.Version, k)
		}
		uids[ch.New.UID] = true
		if now[k] = &ch.New; ch.Type == watch.Deleted {
			delete(now, k)
		}
	}
}

// effect identifies a change by a value that its writer chose: the identity of the write, or the uid of a deleted object.
func effect(t watch.EventType, s State) string {
	if t == watch.Deleted {
		return "deletion of " + s.UID
	}
	return "write " + s.Write
}

// checkWrites assigns the writes to the changes. Every change after the fork must be the effect of one of them.
func (c *checker) checkWrites() {
	changes := map[string]*Change{}
	for i := range c.Changes {
		ch := &c.Changes[i]
		e := effect(ch.Type, ch.New)
		if changes[e] != nil {
			c.find("%s is in the history twice, at %d and %d", e, changes[e].Version, ch.Version)
		}
		changes[e] = ch
	}
	writers, unknown := map[string]*Operation{}, map[key]bool{} // unknown: a deletion without an answer
	for _, o := range c.log.Operations {
		e := effect("", o.In)
		switch {
		case o.Verb == Get || o.Verb == List:
			continue
		case o.Verb == Delete:
			if o.Err != nil {
				unknown[o.In.key()] = unknown[o.In.key()] || reason(o.Err) == ""
				continue
			}
			e = effect(watch.Deleted, o.Out)
			if writers[e] != nil {
				c.find("%s was confirmed twice: %s; %s", e, writers[e], o)
			}
		}
		writers[e] = o
		c.checkWrite(o, changes[e])
	}
	for e, ch := range changes {
		if writers[e] == nil && ch.Version > c.Forked && !(ch.Type == watch.Deleted && unknown[ch.New.key()]) {
			c.find("change %d of %s has no writer: %s", ch.Version, ch.New.key(), e)
		}
	}
}

// checkWrite checks a write beside its change, which is nil if it is not in the history.
func (c *checker) checkWrite(o *Operation, ch *Change) {
	switch {
	case o.Err != nil && reason(o.Err) != "":
		if ch != nil {
			c.find("a refused write is in the history at %d: %s", ch.Version, o)
		}
		return
	case ch == nil:
		if o.Err == nil {
			c.find("a confirmed write is not in the history: %s", o)
		}
		return
	}
	if ch.New.key() != o.In.key() {
		c.find("a write changed %s: %s", ch.New.key(), o)
	}
	if o.Err == nil && o.Out.Version != 0 && o.Out != ch.New {
		c.find("a write returned another state than the history has: %s; %+v", o, ch.New)
	}
	switch o.Verb {
	case Create:
		if ch.Old != nil {
			c.find("a create replaced %+v: %s", ch.Old, o)
		}
	case Update: // an update also creates a missing Lease
		if ch.Old != nil && o.In.Version != ch.Old.Version {
			c.find("an update replaced version %d: %s", ch.Old.Version, o)
		}
	case Patch:
		if ch.Old == nil {
			c.find("a patch created an object: %s", o)
		}
	case Delete:
		if o.In.UID != "" && o.In.UID != ch.New.UID {
			c.find("a deletion removed another uid: %s", o)
		}
	}
	if o.Verb != Delete && (ch.New.Write != o.In.Write || ch.New.Color != o.In.Color) {
		c.find("a write has other content in the history: %s; %+v", o, ch.New)
	}
	if o.Err == nil {
		c.add(o.Begin, o.End, o, func(floor uint64) (uint64, bool) { return ch.Version, ch.Version > floor })
	}
}

func (c *checker) add(begin, end uint64, what fmt.Stringer, place func(floor uint64) (uint64, bool)) {
	c.points = append(c.points, point{begin, end, what, place})
}

// knows adds a fact that a client has seen at a tick: a version, which no later write can take.
func (c *checker) knows(tick uint64, what fmt.Stringer, version uint64) {
	c.add(tick, tick, what, func(uint64) (uint64, bool) { return version, true })
}

// ceilings returns a function that bounds the version of the store at a tick: the version before the first write that began later.
func (c *checker) ceilings() func(tick uint64) uint64 {
	type began struct{ tick, version uint64 }
	var writes []began
	for _, p := range c.points[1:] { // the first is the beginning
		version, _ := p.place(0)
		writes = append(writes, began{p.begin, version})
	}
	slices.SortFunc(writes, func(a, b began) int { return cmp.Compare(a.tick, b.tick) })
	lowest := c.last() + 1
	for i := len(writes) - 1; i >= 0; i-- {
		lowest = min(lowest, writes[i].version)
		writes[i].version = lowest
	}
	return func(tick uint64) uint64 {
		i, _ := slices.BinarySearchFunc(writes, tick, func(b began, t uint64) int { return cmp.Compare(b.tick, t) })
		if i == len(writes) {
			return c.last()
		}
		return writes[i].version - 1
	}
}

// checkOperation checks reads and refusals. The store had at most version ceiling when the operation ended.
func (c *checker) checkOperation(o *Operation, ceiling uint64) {
	if o.Err != nil {
		c.checkRefusal(o, ceiling)
		return
	}
	switch o.Verb {
	case Get:
		ch := c.change(o.Out.key(), o.Out.Version)
		if ch == nil || ch.Type == watch.Deleted || ch.New != o.Out {
			c.find("a get returned a state that is not in the history: %s", o)
			return
		}
		same := func(s *State) bool { return s != nil && s.Version == o.Out.Version }
		c.addRead(o, o.In.Version, func(floor uint64) (uint64, bool) {
			low := c.next(o.In.key(), max(floor, ch.Version), same)
			return low, low != 0
		})
	case List:
		c.checkPage(o)
	}
}

// addRead adds a read. Without a resourceVersion it is consistent. Otherwise it is not older than that.
func (c *checker) addRead(o *Operation, requested uint64, place func(floor uint64) (uint64, bool)) {
	if o.List.Version == "" && o.Before == nil && requested == 0 {
		c.add(o.Begin, o.End, o, place)
		return
	}
	low, ok := place(max(requested, c.first))
	if !ok {
		c.find("a read is older than it asked for: %s", o)
		return
	}
	c.knows(o.End, o, low)
}

// stale is the In.Version of a get with resourceVersion "0".
const stale = 1

// checkPage checks a list or a page of one.
func (c *checker) checkPage(o *Operation) {
	p := o.Page
	if o.Before != nil {
		if p.Version != o.Before.Page.Version {
			c.find("a page has another version than the page before it, %d: %s", o.Before.Page.Version, o)
		}
	}
	if p.Version < c.first || p.Version > c.last() {
		c.find("a list has a version that never was: %s", o)
		return
	}
	if o.List.Match == "Exact" && o.List.Version != fmt.Sprint(p.Version) {
		c.find("a list is not of the exact version: %s", o)
	}
	c.checkItems(o)
	requested := version(o.List.Version)
	c.addRead(o, requested, func(floor uint64) (uint64, bool) { return p.Version, p.Version >= floor })
}

// checkItems checks the items of a page, its token, and its count of the rest.
func (c *checker) checkItems(o *Operation) {
	p, sc, after := o.Page, scope{namespace: o.List.Namespace, color: o.List.Color}, ""
	if o.Before != nil {
		after = o.Before.Page.Items[len(o.Before.Page.Items)-1].key().String()
	}
	want, more := c.list(sc, p.Version, after), int64(0)
	if o.List.Limit > 0 && len(want) > o.List.Limit && o.List.Version != "0" { // a watch cache ignores the limit
		want, more = want[:o.List.Limit], int64(len(want)-o.List.Limit)
	}
	if !slices.Equal(p.Items, want) {
		c.find("a list has other items than the state at its version: %s: got %+v, want %+v", o, p.Items, want)
	}
	unread := more > 0
	if sc.color != "" && len(want) > 0 && len(want) == o.List.Limit && o.List.Version != "0" { // the token may lead to objects of other colors
		unread = len(c.list(scope{namespace: sc.namespace}, p.Version, want[len(want)-1].key().String())) > 0
	}
	if (p.Continue != "") != unread {
		c.find("a page has the continue token %q, want one: %t: %s", p.Continue, unread, o)
	}
	if left := cmp.Or(more, -1); p.Remaining != left && sc.color == "" || p.Remaining >= 0 && sc.color != "" {
		c.find("remainingItemCount is %d, want %d: %s", p.Remaining, left, o)
	}
}

// checkRefusal checks that a refusal was true at some moment of the operation.
func (c *checker) checkRefusal(o *Operation, ceiling uint64) {
	var holds func(*State) bool
	k := o.In.key()
	switch r := reason(o.Err); {
	case r == "": // cancelled, or the connection was lost
		return
	case r == meta.ReasonTooManyRequests && c.swaps(o.Begin, o.End):
		return
	case r == meta.ReasonAlreadyExists && o.Verb == Create:
		holds = func(s *State) bool { return s != nil }
	case r == meta.ReasonNotFound && (o.Verb == Get || o.Verb == Patch || o.Verb == Delete):
		holds = func(s *State) bool { return s == nil }
	case r == meta.ReasonConflict && o.Verb == Update:
		holds = func(s *State) bool { return s != nil && s.Version != o.In.Version }
	case r == meta.ReasonConflict && o.Verb == Delete && o.In.UID != "":
		holds = func(s *State) bool { return s != nil && s.UID != o.In.UID }
	case r == meta.ReasonExpired && o.Verb == List:
		from := version(o.List.Version)
		if o.Before != nil {
			from = o.Before.Page.Version
		}
		c.checkExpired(o, from, ceiling)
		return
	default:
		c.find("an unexpected refusal: %s", o)
		return
	}
	place := func(floor uint64) (uint64, bool) {
		low := c.next(k, floor, holds)
		return low, low != 0
	}
	if o.Verb == Get {
		c.addRead(o, o.In.Version, place)
	} else {
		c.add(o.Begin, o.End, o, place)
	}
}

// checkExpired checks that the change after a version can have left the history.
func (c *checker) checkExpired(what fmt.Stringer, from, ceiling uint64) {
	if from == 0 || from > c.Lost && c.count(from, ceiling) <= c.Limit {
		c.find("history of %d changes expired at version %d at most: %s", c.Limit, ceiling, what)
	}
}

// checkOrder places all operations in the order of their beginnings, each at the lowest possible version. So one that has no place has
// none in any order that agrees with real time.
func (c *checker) checkOrder() {
	slices.SortStableFunc(c.points, func(a, b point) int { return cmp.Compare(a.begin, b.begin) })
	lows := make([]uint64, len(c.points))
	ended := make([]int, len(c.points)) // by their ends
	for i := range ended {
		ended[i] = i
	}
	slices.SortFunc(ended, func(a, b int) int { return cmp.Compare(c.points[a].end, c.points[b].end) })
	floor, by := c.first, 0
	for i, p := range c.points {
		for len(ended) > 0 && c.points[ended[0]].end < p.begin {
			if j := ended[0]; lows[j] > floor {
				floor, by = lows[j], j
			}
			ended = ended[1:]
		}
		low, ok := p.place(floor)
		if !ok {
			c.find("an operation took place before version %d, which an earlier one had seen: %s; %s", floor, p.what, c.points[by].what)
			low = 0
		}
		lows[i] = low
	}
}

// never is a version that no store reaches.
const never = uint64(math.MaxUint64)
