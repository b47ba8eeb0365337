package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/meta"
)

// expiredLists is how many watches end by expire-watch.
const expiredLists = 3

// writeVerbs are the verbs of requests that change objects.
func writeVerbs() []string {
	return []string{"create", "update", "patch", "apply", "delete", "deletecollection"}
}

// concerns reports whether the plan is for a controller.
func (p *plan) concerns(c *Controller) bool { return p.controller == "" || p.controller == c.name() }

// meet chooses the effect on a request that arrives.
func (l *life) meet(r apitest.Request) apitest.Effect {
	l.progress.Add(1)
	l.mu.Lock()
	if r.Resource == "" {
		l.mu.Unlock()
		return apitest.Effect{}
	}
	p := l.processes[r.Client]
	if p != nil && p.crashed {
		l.mu.Unlock()
		return apitest.CutBefore()
	}
	t := l.targetLocked(r)
	l.noteRequestLocked(r, t)
	if p == nil {
		l.mu.Unlock()
		return apitest.Effect{}
	}
	c := &l.x.s.Controllers[p.controller]
	t.nth = l.countLocked(c.name(), t)
	l.readLocked(p.controller, t)
	l.pulseLocked(t)
	if l.boundLocked(c, r) {
		l.mu.Unlock()
		return apitest.Hang()
	}
	wait := l.costLocked()
	l.meetTouchLocked(r)
	if l.plan == nil {
		l.requests = append(l.requests, request{t, p.controller, l.step, l.arriveLocked(r.Client, r.Verb, r.Path), additions(r)})
	}
	l.mu.Unlock()
	var effect apitest.Effect
	if l.plan != nil && l.plan.concerns(c) {
		effect = l.perturb(p, r, t)
	}
	if wait > 0 {
		return apitest.Delay(wait).Then(effect)
	}
	return effect
}

// boundLocked counts a request, and reports whether it is one too many.
func (l *life) boundLocked(c *Controller, r apitest.Request) bool {
	if l.x.pace.real || r.Time.Sub(l.lastAt) > l.costLocked() {
		l.atOnce = 0
	}
	l.lastAt = r.Time
	l.atOnce++
	l.total++
	if !l.runaway && (l.atOnce > maxAtOnce || l.x.usual > 0 && l.total > 20*l.x.usual+1000) {
		l.runaway = true
		l.foundLocked("rest", key{"controller", c.name()}, fmt.Sprintf("%s sends requests without end, %d in %s, the last one: %s", c.name(), l.total, l.x.s.stepName(l.step), r))
	}
	return l.runaway
}

// maxAtOnce is how many requests may come without a pause.
const maxAtOnce = 5000

// costLocked returns how much virtual time the last request takes. Requests cost none, so a controller that tries again at once until it sees an event would wait
// for a late one for ever. Beyond what is usual and 500 more, each takes 2 ms more than the one before it: 200 are 40 seconds, and no event is later. Those
// after them take none, and there is no end to them.
func (l *life) costLocked() time.Duration {
	n := l.atOnce - l.x.usual - 500
	if l.x.pace.real || l.plan == nil || n < 0 || n > 200 {
		return 0
	}
	return time.Duration(n) * 2 * time.Millisecond
}

// perturb chooses the effect of the plan.
func (l *life) perturb(p *process, r apitest.Request, t target) apitest.Effect {
	isWrite := slices.Contains(writeVerbs(), r.Verb)
	switch plan := l.plan; plan.action {
	case slowEvents:
		if r.Verb == "watch" && t.resource == plan.resource {
			l.take(1)
			return apitest.SlowEvents(l.x.pace.lag)
		}
	case expireWatch:
		if r.Verb == "watch" && t.resource == plan.resource && l.take(expiredLists) {
			return apitest.FailWatch(1, meta.Status{Code: http.StatusGone})
		}
	case random:
		l.mu.Lock()
		calmed := l.calmed
		l.mu.Unlock()
		if !calmed {
			l.take(1)
			return l.adversary
		}
	case crashTwice:
		if (plan.at == t || l.acted() == 1 && isWrite) && l.take(2) {
			p.crashing.Store(true)
			return apitest.CutAfter()
		}
	case restart, terminate, staleRestart, collapse, none: // see steps
	default:
		if plan.at == t && l.take(1) {
			return l.strike(p, r)
		}
	}
	return apitest.Effect{}
}

// take reports whether the plan has acted less than n times, and counts.
func (l *life) take(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acts >= n {
		return false
	}
	l.acts++
	l.actedIn = len(l.rests)
	return true
}

// acted returns how often the plan has acted.
func (l *life) acted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acts
}

// strike acts on the request that the plan names.
func (l *life) strike(p *process, r apitest.Request) apitest.Effect {
	if l.plan.late {
		l.mu.Lock()
		l.late = &r
		l.mu.Unlock()
		return apitest.Effect{}
	}
	l.note(p.name, l.plan.String(), true)
	switch l.plan.action {
	case down:
		l.holdBack()
		p.crashing.Store(true)
		return apitest.CutAfter()
	case crashBefore:
		p.crashing.Store(true)
		return apitest.CutBefore()
	case crashAfter:
		p.crashing.Store(true)
		return apitest.CutAfter()
	case lostAnswer:
		return apitest.CutAfter()
	case answer409, answer429, answer500, answer504:
		code, _ := strconv.Atoi(strings.TrimPrefix(l.plan.action, "answer-"))
		return apitest.Answer(code)
	case answer504After:
		return apitest.AnswerAfter(http.StatusGatewayTimeout)
	case takeover:
		cut := l.api.Fault(apitest.Partition(), apitest.Match{Client: p.name})
		l.restsNotBefore(l.x.pace.cutOff)
		time.AfterFunc(l.x.pace.cutOff, cut.Remove)
	case interfere, addFinalizer, addOwner, addCondition, addEntry:
		l.interfere(r)
	}
	return apitest.Effect{}
}

// targetLocked names a request.
func (l *life) targetLocked(r apitest.Request) target {
	resource := l.x.resource(r.Group, r.Resource)
	t := target{verb: r.Verb, resource: resource, object: "*"}
	name := r.Name
	if r.Verb == "create" && name == "" {
		var o struct {
			Metadata struct {
				GenerateName string `json:"generateName"`
			} `json:"metadata"`
		}
		_ = json.Unmarshal(r.Body, &o) // another form has no prefix
		name = o.Metadata.GenerateName + "*"
	}
	l.lookLocked() // names that the server has made
	switch {
	case name != "":
		t.object = l.names.object(key{resource, objectName(namespaceOf(r), name)})
	case namespaceOf(r) != "":
		t.object = r.Namespace + "/*"
	}
	if r.Subresource != "" {
		t.resource += "/" + r.Subresource
	}
	return t
}

// namespaceOf returns the namespace of the object of a request. The path of a Namespace has its name there.
func namespaceOf(r apitest.Request) string {
	if r.Group == "" && r.Resource == "namespaces" {
		return ""
	}
	return r.Namespace
}

func objectName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// hide begins to hide the events of a step, and returns how to end it.
func (l *life) hide(ctx context.Context, step int) (release func()) {
	p := l.plan
	if p == nil || p.action != collapse || p.step != step {
		return func() {}
	}
	l.take(1)
	l.note("", "events of "+p.resource+" are hidden", true)
	hidden := func(r apitest.Request) apitest.Effect {
		l.mu.Lock()
		defer l.mu.Unlock()
		from := l.processes[r.Client]
		if from != nil && p.concerns(&l.x.s.Controllers[from.controller]) && l.x.resource(r.Group, r.Resource) == p.resource && (r.Verb == "watch" || r.Verb == "list") {
			return apitest.Refuse()
		}
		return apitest.Effect{}
	}
	f := l.api.Fault(apitest.Choose(hidden))
	ended := make(chan struct{})
	time.AfterFunc(l.x.pace.hidden, func() {
		defer close(ended)
		l.api.Store().ExpireHistory()
		f.Remove()
		l.note("", "the controller lists "+p.resource+" again", true)
	})
	return func() {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
}

// calm ends what random plans do, before the last rest.
func (l *life) calm() {
	if l.plan == nil || l.plan.action != random {
		return
	}
	time.Sleep(l.x.pace.quiet)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calmed = true
}

// restart ends all processes of a controller at rest, and lets them start again, perhaps in the past.
func (l *life) restart(ctx context.Context, p *plan) {
	var version uint64
	if p.action == staleRestart {
		if version = l.versionBefore(p.at); version == 0 {
			return // there was no such change
		}
	}
	l.take(1)
	if p.action == restart || p.action == terminate {
		l.stopAll(p.controller, p.action == restart)
		return
	}
	var ends []*apitest.Fault
	onStart := func(started *process) {
		if !p.concerns(&l.x.s.Controllers[started.controller]) {
			return
		}
		// With WatchList a server that lags would not take the client back before it has caught up.
		past := apitest.StaleOptions{ResourceVersion: strconv.FormatUint(version, 10), NoWatchList: true}
		f := l.api.Fault(apitest.Stale(past), apitest.Match{Client: started.name, Resource: p.resource})
		l.mu.Lock()
		defer l.mu.Unlock()
		ends = append(ends, f)
	}
	l.setOnStart(onStart)
	l.note("", fmt.Sprintf("%s reads the state%s before %s", cmp.Or(p.controller, "the controller"), map[bool]string{true: " of " + p.resource}[p.resource != ""], p.at), true)
	l.stopAll(p.controller, true)
	time.Sleep(l.x.pace.afterCrash)
	l.awaitWatches(ctx)
	time.Sleep(l.x.pace.stale)
	l.setOnStart(nil)
	for _, f := range ends {
		f.Remove()
	}
	l.note("", "the reads are current again", true)
}

func (l *life) setOnStart(f func(*process)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onStart = f
}

// versionBefore returns the version before a change, or 0.
func (l *life) versionBefore(t target) uint64 {
	l.counted()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.changes {
		if c.target == t {
			return c.Version - 1
		}
	}
	return 0
}
