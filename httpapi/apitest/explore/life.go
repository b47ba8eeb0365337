package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// life is one run of a scenario.
type life struct {
	x         *explorer
	plan      *plan // nil: undisturbed
	nth       int   // of the undisturbed runs
	keep      bool  // the log is kept
	api       *apitest.API
	began     time.Time
	adversary apitest.Effect // of random

	running  sync.WaitGroup
	cleanups []func()
	bubble   string // its number, as stacks show it
	patient  bool   // it repeats a finding, or is to be like those that do: it rests for longer if there are programs
	dir      string // of its programs, or ""
	over     atomic.Bool
	progress atomic.Int64
	pos      atomic.Pointer[string] // what the run is at, in words

	mu        sync.Mutex // guards all below; Changed takes it with the lock of the store held
	pending   []change
	changes   []change // as many as have been looked at
	objects   map[key]tracked
	made      map[key]int // since the last rest
	gone      map[key]int
	texts     []writing
	others    int             // writes of others since the last rest, but for states
	writers   map[int]bool    // the controllers, by index, that have written since writers was last read; -1 is the World, -2 another client
	alive     map[string]bool // uids of objects that exist
	orphans   map[string]bool // uids of objects that were made for owners that were gone, or for orphans
	names     names
	writes    int
	wrote     time.Duration // the last of them
	written   map[key]bool  // what controllers changed or deleted, but for the status
	own       map[key]bool  // what controllers created
	last      string        // the last change, in words
	stopped   map[key]bool  // what the processes wrote at their end
	processes map[string]*process
	requests  []request
	sent      map[route][]place // requests on their way, in an undisturbed run
	occur     map[string]int    // by controller and request, without its number
	total     int
	calmed    bool             // random plans act no more
	acts      int              // how often the plan has acted
	actedIn   int              // the number of the rest that followed when it acted
	blind     string           // why the run says nothing, or ""
	hold      chan struct{}    // closed when processes may start again, or nil
	late      *apitest.Request // of a touch that comes at rest, or nil
	onStart   func(*process)   // of each process that starts, or nil
	atOnce    int              // requests without a pause
	lastAt    time.Time        // when the last one came
	runaway   bool
	ends      map[string]int
	touch     *touch
	rests     []rest
	found     []discovery
	log       []*entry
	open      map[requestID][]*entry // whose outcome is not known yet
	step      int
	fault     string // of the scenario itself

	// Of a run with programs.
	started  []*process      // in their order
	watching map[watched]int // how many watches are open
	polls    map[int]bool    // the controllers that read the same again
	moved    time.Duration   // when something else than a write or a read happened
	asked    time.Duration   // when a controller read last
	until    time.Duration   // no rest comes before
	gap      time.Duration   // the longest time between two writes before a rest, of which the second is no step's
	restFrom time.Duration   // since when a rest is waited for
	pulse    time.Duration   // the last time that a controller asked for a write, also one that changes nothing
}

// change is a change of the store.
type change struct {
	registry.ObjectChange
	by     *process // nil: no controller
	target target
	step   int
	from   place // of the request, in an undisturbed run
	rest   int   // the number of the rest that follows
	at     time.Duration
	moved  []move // the members that differ after an update
}

// writing is a change in words.
type writing struct {
	key  key
	text string
}

// request is a request of a controller.
type request struct {
	target     target
	controller int
	step       int
	from       place
	adds       []string // the actions that may add to a list of its body
}

// discovery is something that is wrong in a run by itself, and not by comparison.
type discovery struct {
	class string
	key   key
	text  string
	step  int
}

// live runs the scenario once.
func (x *explorer) live(plan *plan, nth int, keep bool) *life {
	prepared := map[string]bool{}
	for uid := range x.uids {
		prepared[uid] = true
	}
	l := &life{
		x: x, plan: plan, nth: nth, keep: keep, patient: plan != nil && (keep || plan.confirms()), watching: map[watched]int{}, polls: map[int]bool{},
		objects: map[key]tracked{}, made: map[key]int{}, gone: map[key]int{}, written: map[key]bool{}, own: map[key]bool{}, writers: map[int]bool{}, processes: map[string]*process{},
		sent: map[route][]place{}, occur: map[string]int{}, ends: map[string]int{}, open: map[requestID][]*entry{},
		alive: maps.Clone(prepared), orphans: map[string]bool{},
		names: names{uids: maps.Clone(x.uids), live: prepared, generated: map[string]string{}, owned: maps.Clone(x.owned), versions: map[string]bool{}, types: x.types},
	}
	l.toItsEnd()
	return l
}

// run is a run in its bubble, or in real time.
func (l *life) run() {
	if !l.x.pace.real {
		l.bubble = bubbleOf()
		time.Sleep(time.Duration(l.nth) * (7*time.Hour + 13*time.Minute + 1234567*time.Microsecond)) // what depends on the time differs
	}
	l.began = time.Now()
	if l.plan != nil && l.plan.action == none {
		l.take(1)
	}
	if l.plan != nil && l.plan.action == random {
		l.adversary = apitest.Adversary(apitest.AdversaryOptions{Seed: l.plan.seed})
	}
	l.api = l.x.s.API.Fork(l)
	(*registry.Store)(l.api.Store()).SkipRandom(uint64(l.nth) << 32) // what follows from a Seed differs too
	defer l.end()
	(*registry.Store)(l.api.Store()).Observe(l)
	l.api.Fault(apitest.Choose(l.meet))
	ctx, cancel := context.WithCancel(l.x.ctx)
	defer cancel()
	if l.x.s.World != nil {
		world := l.newProcess(-1, "world")
		l.running.Add(1)
		go func() {
			defer l.running.Done()
			if err := call(func() error { return l.x.s.World(ctx, world.conn()) }); err != nil && ctx.Err() == nil {
				l.fail(fmt.Sprintf("Scenario.World: %v", err))
			}
		}()
	}
	for i := range l.x.s.Controllers {
		for replica := range l.x.s.Controllers[i].replicas() {
			l.running.Add(1)
			go l.supervise(ctx, i, replica)
			l.letWork() // the first replica asks first
		}
	}
	l.steps(ctx)
	l.over.Store(true)
	cancel()
	ended := make(chan struct{})
	go func() { defer close(ended); l.running.Wait() }()
	select {
	case <-ended:
	case <-time.After(2 * waitForEnd):
	}
}

// steps does all steps with their rests.
func (l *life) steps(ctx context.Context) {
	user := l.newProcess(-1, "user")
	for n := range len(l.x.s.Steps) + 1 {
		l.mu.Lock()
		l.step = n
		l.mu.Unlock()
		l.goDown(n)
		release := l.hide(ctx, n)
		if n > 0 {
			l.noteStep(n, l.x.s.Steps[n-1].Name)
			if !l.do(ctx, n, user) {
				return
			}
		}
		release()
		l.comeUp(ctx, n)
		if n == len(l.x.s.Steps) {
			l.calm()
		}
		if !l.rest(ctx, n, "") {
			return
		}
		if p := l.plan; p != nil && p.step == n && (p.action == restart || p.action == staleRestart || p.action == terminate) {
			l.restart(ctx, p)
			if !l.rest(ctx, n, theRestart) {
				return
			}
		}
		if l.touchLate() {
			l.rest(ctx, n, theRestart)
			l.stopAll("", true)
			l.rest(ctx, n, theRestart)
			return // what is asked is known
		}
	}
	l.stopAll("", false)
	l.mu.Lock()
	l.stopped = map[key]bool{}
	for _, w := range l.texts {
		l.stopped[w.key] = true
	}
	l.texts = nil // what they wrote at their end is allowed
	l.mu.Unlock()
	l.note("", "all controllers are started again", false)
	l.rest(ctx, len(l.x.s.Steps), atTheEnd)
}

// end closes the API.
func (l *life) end() {
	if l.api != nil {
		l.collectLog()
		l.api.Close()
	}
	for _, f := range slices.Backward(l.cleanups) {
		f()
	}
}

// maxQuiets is how many times Options.Quiet a run may take to come to rest.
const maxQuiets = 40

// rest waits until nothing changes, and keeps the state. It reports whether the run goes on.
func (l *life) rest(ctx context.Context, step int, extra string) bool {
	if l.x.pace.real {
		return l.realRest(ctx, step, extra)
	}
	for n := 0; ; n++ {
		still := l.isStill(ctx, n > 0)
		l.mu.Lock()
		runaway, fault, last := l.runaway, l.fault, l.last
		onlyWorld := len(l.writers) == 1 && l.writers[-1]
		l.mu.Unlock()
		switch {
		case runaway || fault != "":
			return false
		case !still && n == maxQuiets && onlyWorld:
			l.giveUp(fmt.Sprintf("Scenario.World never rests in %s; the last change was: %s", l.x.s.stepName(step), last))
			return false
		case still:
			l.collectLog()
			l.check(ctx, step, extra)
			return true
		case n == maxQuiets:
			l.find("rest", key{"controller", "rest"}, fmt.Sprintf("nothing comes to rest in %s; the last change was: %s", l.x.s.stepName(step), last))
			return false
		}
	}
}

// isStill waits, for Options.Quiet from now or from the last write on, and reports whether nothing that counts has changed meanwhile.
func (l *life) isStill(ctx context.Context, fromLast bool) bool {
	l.letWork() // what follows at once belongs to what was before
	before := l.counted()
	l.mu.Lock()
	l.writers = map[int]bool{}
	d := l.x.pace.quiet
	if fromLast {
		d = max(0, d-(l.since(time.Now())-l.wrote)) + l.x.pace.afterQuiet
	}
	l.mu.Unlock()
	l.progress.Add(1)
	sleep(ctx, d)
	return l.counted() == before
}

// check keeps the state at a rest and calls Scenario.Check.
func (l *life) check(ctx context.Context, step int, extra string) {
	l.mu.Lock()
	if l.hold != nil {
		l.mu.Unlock()
		return // the process is down, and is waited for
	}
	l.rests = append(l.rests, rest{step, extra, maps.Clone(l.objects), l.made, l.gone, l.texts, l.stopped, l.others, l.watchedLocked(), l.since(time.Now())})
	l.made, l.gone, l.texts, l.others = map[key]int{}, map[key]int{}, nil, 0
	l.judgeTouchLocked()
	l.mu.Unlock()
	if l.x.s.Check == nil || l.plan != nil && l.plan.adds() {
		return
	}
	checker := l.newProcess(-1, "check")
	if err := l.bounded(ctx, "the check", checker, l.x.s.Check); err != nil {
		if crash, ok := err.(panicked); ok {
			l.find("panic", key{"check", ""}, "the check panics: "+crash.text())
		} else {
			l.find("check", key{"check", ""}, fmt.Sprintf("the check fails: %v", err))
		}
	}
}

// Begin implements registry.Observer.
func (l *life) Begin(uint64, bool) {}

// Changed implements registry.Observer.
func (l *life) Changed(ctx context.Context, c registry.ObjectChange) {
	made := change{ObjectChange: c}
	if s, ok := ctx.Value(sentKey{}).(*sent); ok {
		made.by, made.from = s.by, s.from
		s.changed.Store(true)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	made.step, made.at = l.step, l.since(time.Now())
	l.pending = append(l.pending, made)
}

// counted looks at all changes so far and returns the number of changes that count: a change of nothing but times does not.
func (l *life) counted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookLocked()
	return l.writes
}

func (l *life) lookLocked() {
	for _, c := range l.pending {
		l.seeLocked(&c)
		l.changes = append(l.changes, c)
	}
	l.pending = nil
}

// seeLocked adds a change to what is known.
func (l *life) seeLocked(c *change) {
	l.seeTouchLocked(c)
	c.rest = len(l.rests)
	it := c.Newest()
	k := l.x.keyOf(it)
	t, ok := l.objects[k]
	if !ok {
		t = tracked{before: c.Old}
	}
	t.now = c.New
	l.objects[k] = t
	l.names.versions[strconv.FormatUint(c.Version, 10)] = true
	l.names.uids[string(it.UID())] = k
	if prefix, ok := registry.Generated(it.Name(), it.Metadata().GenerateName); ok {
		l.names.generated[it.Name()] = prefix + "*"
	}
	if of, ok := belongsTo(it); ok {
		l.names.owned[k] = of
	}
	verb := map[watch.EventType]string{watch.Added: "create", watch.Deleted: "delete"}[c.Type()]
	verb = cmp.Or(verb, "update")
	c.target = target{verb, k.resource, l.names.object(k), 0}
	c.target.nth = l.countLocked("change", c.target)
	if _, ok := l.names.owned[k]; ok || isEvent(k.resource) || c.by == nil && verb == "update" && k.resource == "leases" {
		return // an Event, or the server renews a Lease of its own, or it takes an address, also for a Service that it refuses then
	}
	statusOnly := false
	switch {
	case verb == "create":
		l.made[k]++
		l.alive[string(it.UID())] = true
		l.orphans[string(it.UID())] = l.isOrphanLocked(it)
	case verb == "delete":
		delete(l.alive, string(it.UID()))
		// The World may carry out what the garbage collector asks for, as a kubelet does.
		if l.orphans[string(it.UID())] && !c.isControllers() && l.made[k] > 0 {
			l.made[k]-- // the garbage collector has undone it
		} else {
			l.gone[k]++
		}
	default:
		if l.names.differInTimes(c.Old, c.New) {
			return
		}
		before, after := l.names.tree(c.Old), l.names.tree(c.New)
		if reflect.DeepEqual(before, after) {
			return
		}
		movesBetween("", before, after, &c.moved)
		slices.SortFunc(c.moved, func(a, b move) int { return strings.Compare(a.path, b.path) })
		statusOnly = onlyStatus(before, after)
	}
	if l.plan == nil && verb == "create" {
		movesBetween("", nil, l.names.tree(c.New), &c.moved)
	}
	if c.isControllers() {
		switch {
		case verb == "create":
			l.own[k] = true
		case !statusOnly:
			l.written[k] = true
		}
	}
	if !c.isStep() {
		l.pausedLocked(c.at)
	}
	l.writes++
	l.wrote = c.at
	index := -2
	if c.by != nil {
		index = c.by.controller
		if c.by.name == "world" {
			index = -1
		}
	}
	l.writers[index] = true
	if index < 0 && !statusOnly {
		l.others++
	}
	l.last = verb + " " + k.resource + " " + l.names.object(k) + " by " + c.writer()
	l.texts = append(l.texts, writing{k, l.last})
}

// pausedLocked takes a write of a controller, or of the rest of the cluster, for the pause before it.
func (l *life) pausedLocked(at time.Duration) {
	l.gap = max(l.gap, at-max(l.wrote, l.pulse, l.moved, l.restFrom))
}

// isOrphanLocked reports whether an object has owners, and none of them exists any more, or will for long: an orphan is deleted with what it owns.
func (l *life) isOrphanLocked(it *registry.Item) bool {
	owners := it.Metadata().OwnerReferences
	stays := func(o meta.OwnerReference) bool { return l.alive[string(o.UID)] && !l.orphans[string(o.UID)] }
	return len(owners) > 0 && !slices.ContainsFunc(owners, stays)
}

// onlyStatus reports whether two states of an object differ in the status only.
func onlyStatus(a, b map[string]any) bool {
	delete(a, "status")
	delete(b, "status")
	return reflect.DeepEqual(a, b)
}

// countLocked counts a request or a change, and returns its number.
func (l *life) countLocked(who string, t target) int {
	id := occurrence(who, t)
	l.occur[id]++
	return l.occur[id]
}

// occurrence names all equal requests of a controller, or all equal changes.
func occurrence(who string, t target) string {
	t.nth = 0
	return who + " " + t.String()
}

func isEvent(resource string) bool {
	return resource == "events" || strings.HasPrefix(resource, "events.")
}

// begin makes a process known.
func (l *life) begin(p *process) {
	l.note(p.name, "starts", false)
	l.mu.Lock()
	onStart := l.onStart
	l.mu.Unlock()
	if onStart != nil {
		onStart(p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.processes[p.name] = p
	l.started = append(l.started, p)
	l.movedLocked()
	l.names.clients = append(l.names.clients, p.name)
}

// endedByItself counts a controller whose Run has returned before its context ended.
func (l *life) endedByItself(p *process, replica string) {
	l.note(p.name, fmt.Sprint("ends: ", p.err), false)
	l.mu.Lock()
	l.ends[replica]++
	n := l.ends[replica]
	l.mu.Unlock()
	if crash, ok := p.err.(panicked); ok {
		l.find("panic", key{"controller", replica}, replica+" panics: "+crash.text())
	} else if n > l.x.pace.ends || l.plan == nil {
		l.find("ends", key{"controller", replica}, fmt.Sprintf("%s ends by itself: %v", replica, p.err))
	}
}

// find adds something that is wrong in the run by itself.
func (l *life) find(class string, k key, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.foundLocked(class, k, text)
}

func (l *life) foundLocked(class string, k key, text string) {
	l.found = append(l.found, discovery{class, k, text, l.step})
}

// giveUp says that the run can show nothing, and why. Undisturbed that is a fault of the scenario.
func (l *life) giveUp(why string) {
	if l.plan == nil {
		l.fail(why)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blind = cmp.Or(l.blind, why)
}

// fail marks a fault of the scenario itself.
func (l *life) fail(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = cmp.Or(l.fault, text)
}

// stopAll ends the processes of a controller, or of all for "", and waits until they are gone. A crash gives them no time.
func (l *life) stopAll(controller string, crash bool) {
	l.mu.Lock()
	var all []*process
	for _, name := range slices.Sorted(maps.Keys(l.processes)) {
		p := l.processes[name]
		if p.dead.Err() == nil && (controller == "" || l.x.s.Controllers[p.controller].name() == controller) {
			all = append(all, p)
		}
	}
	l.mu.Unlock()
	for _, p := range all {
		if crash {
			p.crash("")
		} else {
			p.stop()
		}
	}
	for _, p := range all {
		select {
		case <-p.done:
		case <-time.After(waitForEnd):
		}
	}
	l.counted()
}

// The methods of an apitest.TB. What an API reports is a finding.

// Helper does nothing.
func (l *life) Helper() {}

// TempDir returns a folder of the test, or of the run.
func (l *life) TempDir() string {
	if l.x.pace.real {
		return l.dir
	}
	return l.x.t.TempDir()
}

// Cleanup adds a function to call at the end of the run.
func (l *life) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

// Logf does nothing.
func (l *life) Logf(string, ...any) {}

// Errorf adds a finding.
func (l *life) Errorf(format string, args ...any) {
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	l.find("api", key{"api", ""}, text)
}

// Fatalf marks a fault of the scenario.
func (l *life) Fatalf(format string, args ...any) { l.fail(fmt.Sprintf(format, args...)) }

// bubbleOf returns the mark of the bubble in the stack of its goroutines.
func bubbleOf() string {
	buf := make([]byte, 256)
	head, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "]")
	_, mark, _ := strings.Cut(head, "synctest bubble ")
	return "synctest bubble " + mark + "]"
}

// left describes the goroutines of the bubble that are left.
func (l *life) left() string {
	buf := make([]byte, 8<<20)
	var lines []string
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		head, rest, _ := strings.Cut(g, "\n")
		if strings.Contains(head, l.bubble) {
			at, _, _ := strings.Cut(rest, "\n")
			lines = append(lines, at)
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), ", ")
}
