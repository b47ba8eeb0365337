package explore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// States at rest do not show what happens on the way to them. A database that is scaled from five to one and back has lost its data. A second
// password locks out the clients that use the first one. This file compares how members change.

// move is a member that an update has changed.
type move struct {
	path     string // with the indices of lists
	from, to string // as JSON, or absent
	scalar   bool   // the new value is neither a list nor an object
}

// movesBetween adds the members in which two states of an object differ.
func movesBetween(path string, a, b any, out *[]move) {
	switch y := b.(type) {
	case map[string]any:
		x, ok := a.(map[string]any)
		if !ok && a != nil {
			break
		}
		for name, v := range y {
			movesBetween(path+"."+name, x[name], v, out)
		}
		for name, v := range x {
			if _, ok := y[name]; !ok {
				*out = append(*out, move{path + "." + name, show(v), absent, false})
			}
		}
		return
	case []any:
		x, ok := a.([]any)
		if ok && len(x) != len(y) || !ok && a != nil {
			break
		}
		for i := range y {
			var before any
			if ok {
				before = x[i]
			}
			movesBetween(fmt.Sprintf("%s[%d]", path, i), before, y[i], out)
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		_, isMap := b.(map[string]any)
		_, isList := b.([]any)
		*out = append(*out, move{path, show(a), show(b), !isMap && !isList})
	}
}

// asMasked returns a path of a move as masks have it: without the indices of lists.
func asMasked(path string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(path, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('[')
		if path = strings.TrimLeft(rest, "0123456789"); !strings.HasPrefix(path, "]") {
			path = rest // no index: a name has a bracket
		}
	}
}

// member is a member of an object.
type member struct {
	key  key
	path string
}

// ways is how members changed in the undisturbed runs.
type ways struct {
	taken map[member]map[string]bool // the values that a member of a spec took
	back  map[member]bool            // it went back to an earlier value between two rests
	most  map[int]map[member]int     // how often a member that differs from run to run changed before each rest
	often map[member]bool            // not equally often in all runs
}

// learnWays looks at the undisturbed runs.
func (x *explorer) learnWays() {
	w := &ways{map[member]map[string]bool{}, map[member]bool{}, map[int]map[member]int{}, map[member]bool{}}
	for n, l := range x.references {
		counts := map[int]map[member]int{}
		for rest := range len(l.rests) {
			steps := l.between(rest)
			for m, values := range l.taken(steps) {
				if w.taken[m] == nil {
					w.taken[m] = map[string]bool{}
				}
				maps.Copy(w.taken[m], values)
			}
			for _, b := range l.back(steps) {
				w.back[b.member] = true
			}
			counts[rest] = l.movesOf(steps, x.flickers)
			for m := range counts[rest] {
				if n > 0 && w.most[rest][m] != counts[rest][m] {
					w.often[m] = true
				}
			}
			for m, most := range w.most[rest] {
				if most != counts[rest][m] {
					w.often[m] = true
				}
			}
			if w.most[rest] == nil {
				w.most[rest] = map[member]int{}
			}
			for m, c := range counts[rest] {
				w.most[rest][m] = max(w.most[rest][m], c)
			}
		}
	}
	x.ways = w
}

// flickers reports whether the undisturbed runs do not agree on a member.
func (x *explorer) flickers(m member) bool { return x.auto[m.key.resource+" "+m.path] }

// between returns the changes before a rest and after the one before it.
func (l *life) between(rest int) []change {
	first, _ := slices.BinarySearchFunc(l.changes, rest, func(c change, rest int) int { return c.rest - rest })
	last, _ := slices.BinarySearchFunc(l.changes, rest+1, func(c change, rest int) int { return c.rest - rest })
	return l.changes[first:last]
}

// isControllers reports whether a controller that is tested has made a change.
func (c *change) isControllers() bool { return c.by != nil && c.by.controller >= 0 }

// isStep reports whether a step has made a change.
func (c *change) isStep() bool { return c.by != nil && c.by.name == "user" }

// writer returns the name of the process that has made a change.
func (c *change) writer() string {
	if c.by == nil {
		return "another client"
	}
	return c.by.name
}

// named returns the key of the object of a change, as it is in all runs.
func (l *life) named(c *change) key {
	it := c.Newest()
	k := l.x.keyOf(it)
	return key{k.resource, l.names.object(k)}
}

// trackedAt returns the objects with a key, as it is in all runs, that a run has changed before a rest.
func (l *life) trackedAt(rest int, k key) (found []tracked) {
	for at, t := range l.rests[rest].objects {
		if at.resource == k.resource && l.names.object(at) == k.object {
			found = append(found, t)
		}
	}
	return found
}

// taken returns the values that members of specs took.
func (l *life) taken(changes []change) map[member]map[string]bool {
	out := map[member]map[string]bool{}
	for i := range changes {
		k := l.named(&changes[i])
		for _, v := range changes[i].moved {
			if m := (member{k, v.path}); strings.HasPrefix(v.path, ".spec.") {
				if out[m] == nil {
					out[m] = map[string]bool{}
				}
				out[m][v.from], out[m][v.to] = true, true
			}
		}
	}
	return out
}

// wayBack is a member that went from a value to another, and back.
type wayBack struct {
	member
	value, over string
}

// back returns the members of specs that controllers changed and changed back.
func (l *life) back(changes []change) (out []wayBack) {
	seen := map[member]map[string]string{} // the values that were left, and for what
	for i := range changes {
		c := &changes[i]
		if !c.isControllers() || c.New == nil || c.Old == nil || c.target.resource == "leases" {
			continue
		}
		k := l.named(c)
		for _, v := range c.moved {
			m := member{k, v.path}
			if !strings.HasPrefix(v.path, ".spec.") || !v.scalar {
				continue
			}
			if over, ok := seen[m][v.to]; ok {
				out = append(out, wayBack{m, v.to, over})
			}
			if seen[m] == nil {
				seen[m] = map[string]string{}
			}
			seen[m][v.from] = v.to
		}
	}
	return out
}

// movesOf counts how often controllers changed members after they had a value.
func (l *life) movesOf(changes []change, of func(member) bool) map[member]int {
	out := map[member]int{}
	for i := range changes {
		c := &changes[i]
		if !c.isControllers() || c.Old == nil || c.New == nil {
			continue
		}
		k := l.named(c)
		for _, v := range c.moved {
			if m := (member{k, asMasked(v.path)}); v.from != absent && of(m) {
				out[m]++
			}
		}
	}
	return out
}

// judgeWay finds what is wrong on the way to a rest: a value of a spec that no undisturbed run took or that was taken back, and a member that differs from run to
// run and has changed where it should not.
func (x *explorer) judgeWay(l *life, rest int, where string) (out []verdict) {
	changes := l.between(rest)
	for _, b := range l.back(changes) {
		if path := asMasked(b.path); !x.ways.back[b.member] && !x.maskedIn(b.key, path) && x.one(l, rest, b.key) {
			out = append(out, verdict{"way", b.key, path, where,
				fmt.Sprintf("on the way to the rest %s, %s: %s went from %s to %s and back, in the undisturbed run it did not", where, b.key, path, b.value, b.over)})
		}
	}
	for i := range changes {
		c := &changes[i]
		if !c.isControllers() || c.New == nil || c.Old == nil || c.target.resource == "leases" {
			continue
		}
		k := l.named(c)
		for _, v := range c.moved {
			values, known := x.ways.taken[member{k, v.path}]
			if !known || !v.scalar || values[v.to] || x.maskedIn(k, asMasked(v.path)) || !x.one(l, rest, k) {
				continue
			}
			out = append(out, verdict{"way", k, asMasked(v.path), where,
				fmt.Sprintf("on the way to the rest %s, %s: %s was %s, in the undisturbed run never", where, k, asMasked(v.path), v.to)})
		}
	}
	most := map[member]int{}
	first, last := x.references[0].span(l, rest)
	for n := first; n <= last; n++ {
		for m, c := range x.ways.most[n] {
			most[m] += c
		}
	}
	counts := l.movesOf(changes, x.flickers)
	for _, m := range slices.SortedFunc(maps.Keys(counts), func(a, b member) int { return strings.Compare(a.key.String()+a.path, b.key.String()+b.path) }) {
		if x.pace.real && strings.HasPrefix(m.path, ".status") {
			continue // in real time it may tell of an error for a while
		}
		if counts[m] > most[m] && !x.ways.often[m] && !x.setAgain(m) && x.one(l, rest, m.key) && !slices.ContainsFunc(x.masks, func(mask mask) bool { return mask.covers(m.key, m.path) }) {
			out = append(out, verdict{"moved", m.key, m.path, where,
				fmt.Sprintf("%s: %s: %s, which differs from run to run, has changed %s since it was set, in the undisturbed run %s", where, m.key, m.path, times(counts[m]), times(most[m]))})
		}
	}
	return out
}

// maskedIn reports whether a member or one above it is not compared.
func (x *explorer) maskedIn(k key, path string) bool {
	for i := 1; i <= len(path); i++ {
		if (i == len(path) || path[i] == '.' || path[i] == '[') && x.masked(k, path[:i]) {
			return true
		}
	}
	return false
}

// setAgain reports whether a member of a status changes in the undisturbed runs: then it may change more often.
func (x *explorer) setAgain(m member) bool {
	if !strings.HasPrefix(m.path, ".status") {
		return false
	}
	for _, most := range x.ways.most {
		if most[m] > 0 {
			return true
		}
	}
	return false
}

// one reports whether a key stands for one object at most: the members of several with made-up names cannot be told apart.
func (x *explorer) one(l *life, rest int, k key) bool {
	n := 0
	for _, t := range l.trackedAt(rest, k) {
		if t.now != nil || t.before != nil {
			n++
		}
	}
	return n <= 1
}
