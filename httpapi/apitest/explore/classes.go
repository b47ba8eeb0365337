package explore

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
)

// Plans of one class cannot be told apart by their text: the same action on requests of the same verb and resource from the same place in the code
// of the controller. A controller that makes a Service for each of ten parents in one loop has ten of them, and one says nearly as much as ten. So one
// plan of each class comes first, then one for each other step, for an object that is new there and for one that
// is not, then the rest.

// place is the part of a program that sends a request: a hash of the functions on its stack.
type place uint64

// maxFrames is how many functions of a stack make a place.
const maxFrames = 100

// here returns the place that calls RoundTrip.
func here() place {
	var pcs [maxFrames]uintptr
	h := fnv.New64a()
	for _, pc := range pcs[:runtime.Callers(3, pcs[:])] {
		var b [8]byte
		for i := range b {
			b[i] = byte(pc >> (8 * i))
		}
		h.Write(b[:])
	}
	return place(h.Sum64())
}

// route finds the place of a request that arrives.
type route struct{ client, method, path string }

// placeOf returns from which place an undisturbed run sends a request, and remembers it until the request arrives.
func (l *life) placeOf(p *process, req *http.Request) place {
	if l.plan != nil {
		return 0
	}
	at := here()
	if p.controller >= 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		to := route{p.name, req.Method, req.URL.Path}
		l.sent[to] = append(l.sent[to], at)
	}
	return at
}

// arriveLocked returns the place of a request that arrives.
func (l *life) arriveLocked(client, verb, path string) place {
	method := http.MethodGet
	switch verb {
	case "create":
		method = http.MethodPost
	case "update":
		method = http.MethodPut
	case "patch", "apply":
		method = http.MethodPatch
	case "delete", "deletecollection":
		method = http.MethodDelete
	}
	to := route{client, method, path}
	all := l.sent[to]
	if len(all) == 0 {
		return 0
	}
	l.sent[to] = all[1:]
	return all[0]
}

// classes knows the class of each plan that was derived.
type classes struct {
	requests map[string]request // undisturbed, by controller and target
	changes  map[string]change  // by target
}

func (x *explorer) newClasses() *classes {
	ref := x.references[0]
	c := &classes{requests: map[string]request{}, changes: map[string]change{}}
	for _, r := range ref.requests {
		c.requests[x.with(r.controller, plan{at: r.target}).requestID()] = r
	}
	for _, change := range ref.changes {
		c.changes[change.target.String()] = change
	}
	return c
}

func (p plan) requestID() string { return p.controller + " " + p.at.String() }

// of returns the class of a plan, and the step in which it acts.
func (c *classes) of(p plan) (class string, step int) {
	onRequest, _, _ := actions()
	kind := func(t target, at place) string {
		return fmt.Sprintf("%s %s %d %s %s %s %x", p.action, p.controller, p.step, p.resource, t.verb, t.resource, at)
	}
	switch {
	case slices.Contains(onRequest, p.action), p.action == down && p.at != target{}:
		if r, ok := c.requests[p.requestID()]; ok {
			return kind(r.target, r.from), r.step
		}
	case p.at != target{}:
		if change, ok := c.changes[p.at.String()]; ok {
			return kind(change.target, change.from) + " " + change.who(), change.step
		}
	}
	return p.String(), p.step
}

// who returns the name of the controller, the step or the World that made the change. The processes of a controller have one name here.
func (c *change) who() string {
	switch {
	case c.by == nil:
		return ""
	case c.by.controller < 0:
		return c.by.name
	}
	return c.by.life.x.s.Controllers[c.by.controller].name()
}

// order sorts plans so that one of each class comes first, then one for each other step, then the rest. Otherwise they keep their order.
func (c *classes) order(plans []plan) []plan {
	type ranked struct {
		rank int
		plan plan
	}
	type classInStep struct {
		class string
		step  int
		first bool // the first request of its kind for its object
	}
	seen, inStep := map[string]bool{}, map[classInStep]bool{}
	all := make([]ranked, len(plans))
	for i, p := range plans {
		class, step := c.of(p)
		rank := 2
		at := classInStep{class, step, p.at.nth == 1}
		switch {
		case !seen[class]:
			rank = 0
		case !inStep[at]:
			rank = 1
		}
		seen[class], inStep[at] = true, true
		all[i] = ranked{rank, p}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	out := make([]plan, len(plans))
	for i, r := range all {
		out[i] = r.plan
	}
	return out
}

// covered tells for each action of how many classes a plan was run, as "crash-after 9/12, restart 3/3".
func (c *classes) covered(derived []plan, ran func(plan) bool) string {
	all, run := map[string]map[string]bool{}, map[string]int{} // by action
	counted := map[string]bool{}
	for _, p := range derived {
		if p.action == none {
			continue // it covers nothing
		}
		if all[p.action] == nil {
			all[p.action] = map[string]bool{}
		}
		class, _ := c.of(p)
		all[p.action][class] = true
		if ran(p) && !counted[class] {
			counted[class] = true
			run[p.action]++
		}
	}
	var texts []string
	for _, action := range slices.Sorted(maps.Keys(all)) {
		texts = append(texts, fmt.Sprintf("%s %d/%d", action, run[action], len(all[action])))
	}
	return strings.Join(texts, ", ")
}
