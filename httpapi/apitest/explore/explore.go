package explore

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// flags are the flags of a test binary that imports the package.
var flags = struct {
	plan   *string
	budget *time.Duration
	dir    *string
	resume *string
}{
	flag.String("explore.plan", "", "run only this plan of package explore, as a report prints it"),
	flag.Duration("explore.budget", 0, "how much time package explore may take for each scenario"),
	flag.String("explore.dir", "", "a folder for the reports of package explore"),
	flag.String("explore.resume", "", "a file, or a folder of files: package explore goes on where the last search has stopped"),
}

// Run explores a scenario and fails the test for each finding, with the plan that repeats it and what happened. It takes at most one
// Options. A scenario that does not agree with itself fails the test before anything goes wrong.
func Run(t *testing.T, s Scenario, opts ...Options) {
	t.Helper()
	r, err := Explore(t, s, opts...)
	if err != nil {
		t.Fatalf("explore: %v", err)
	}
	t.Logf("explore: %s", r.Summary())
	if r.Covered != "" {
		t.Logf("explore: classes of plans that were covered: %s", r.Covered)
	}
	for _, f := range r.Once {
		t.Logf("explore: seen once, and in none of %d runs more: %s", f.Of, f)
	}
	for _, f := range r.Findings {
		t.Errorf("explore: %s", f)
	}
}

// Explore is like Run, but returns what it has found. The error is a fault of the scenario or of the options, never of the controller under a
// perturbation: undisturbed runs that do not agree, a controller that never rests, a step that fails, a plan that cannot be parsed or, when
// it is the only one, hits nothing.
func Explore(t *testing.T, s Scenario, opts ...Options) (*Report, error) {
	t.Helper()
	var o Options
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		return nil, fmt.Errorf("got %d Options, want one at most", len(opts))
	}
	x := newExplorer(t, s, o)
	if !x.pace.real {
		return x.search()
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	x.ctx = ctx
	return x.search()
}

// Search explores a scenario outside of a test, until ctx ends at the latest, and returns what it has found, as Explore does. All runs are in real
// time, also those of a Controller that has Run. It prints nothing: Options.Logf and Options.Progress get the progress. The flags of tests mean nothing to it.
// When it returns, it has left no process and no folder, but for what Options asks for.
func Search(ctx context.Context, s Scenario, o Options) (*Report, error) {
	x := newExplorer(nil, s, o)
	x.ctx = ctx
	return x.search()
}

// search does all of an exploration.
func (x *explorer) search() (*Report, error) {
	if err := x.prepare(); err != nil {
		return nil, err
	}
	if err := x.parsePlans(); err != nil {
		return nil, err
	}
	if err := x.remember(); err != nil {
		return nil, err
	}
	if x.pace.real {
		dir, err := os.MkdirTemp("", "explore-*")
		if err != nil {
			return nil, err
		}
		x.dir = dir
		defer os.RemoveAll(dir)
		defer x.groups.kill()
	}
	if err := x.refer(); err != nil {
		return nil, cmp.Or(x.interrupted(), err)
	}
	if x.unlike != nil {
		r := &Report{Findings: []*Finding{x.unlike}, Requests: len(x.references[0].requests), Elapsed: time.Since(x.start)}
		return r, x.write(r)
	}
	plans, err := x.plans()
	if err != nil {
		return nil, err
	}
	r := x.explore(plans)
	if x.chosen && len(r.NoHit) > 0 {
		return nil, fmt.Errorf("plan %q hits nothing: the controller makes no such request, or not at that step", r.NoHit[0])
	}
	if x.chosen && len(r.Blind) > 0 {
		return nil, fmt.Errorf("plan %s", r.Blind[0])
	}
	return r, cmp.Or(x.memory.write(), x.write(r), x.interrupted())
}

// interrupted returns why a search has ended too early, or nil.
func (x *explorer) interrupted() error {
	if x.ctx.Err() != nil {
		return fmt.Errorf("the search was interrupted: %w", context.Cause(x.ctx))
	}
	return nil
}

func newExplorer(t *testing.T, s Scenario, o Options) *explorer {
	x := &explorer{t: t, s: s, o: o, pace: virtualPace(o.Quiet), start: time.Now(), patience: patience, ctx: context.Background(), planFlag: "-plan"}
	if t == nil || slices.ContainsFunc(s.Controllers, func(c Controller) bool { return c.Command != nil }) {
		x.pace = realPace(o.Quiet)
	}
	if t == nil {
		var names []string
		for i := range s.Controllers {
			names = append(names, s.Controllers[i].name())
		}
		x.name = strings.Join(names, ", ")
		return x
	}
	x.name, x.planFlag = t.Name(), "-explore.plan"
	if *flags.plan != "" {
		x.o.Plans = []string{*flags.plan}
	}
	x.o.Budget, x.o.Dir, x.o.Resume = cmp.Or(*flags.budget, o.Budget), cmp.Or(*flags.dir, o.Dir), cmp.Or(*flags.resume, o.Resume)
	if x.o.Logf == nil {
		x.o.Logf = t.Logf
	}
	return x
}

// explorer explores one scenario.
type explorer struct {
	t        *testing.T // nil outside of a test
	name     string     // of the test, or of the controllers
	planFlag string     // that repeats a plan
	ctx      context.Context
	s        Scenario
	o        Options
	pace     pace
	gap      time.Duration // the longest pause before a write, of an undisturbed run of a program
	start    time.Time
	chosen   bool // plans were given: these
	given    []plan
	unlike   *Finding // undisturbed runs that do not agree by the fault of a controller
	disagree bool     // undisturbed runs do not agree, and no controller is at fault
	memory   *memory  // of the searches before, or nil

	masks      []mask
	double     map[string]bool          // plurals that several groups have
	uids       map[string]key           // of the prepared objects
	owned      map[key]key              // see names
	types      map[string]*codec.Type   // by group and resource
	called     map[string]meta.TypeMeta // likewise
	resources  map[string]bool          // the names of all, as in plans
	ways       *ways
	patience   int             // seconds
	abandoned  atomic.Bool     // a run could not be ended
	references []*life         // undisturbed
	auto       map[string]bool // resource and path, on which they do not agree
	names      *loose
	written    map[key]bool // by controllers, undisturbed
	known      map[key]bool // objects of the undisturbed runs
	usual      int          // how many requests the controllers send, undisturbed

	// Of programs.
	dir     string // has a folder for each run
	groups  groups
	gate    *gate
	slowEnd atomic.Bool // a program does not end after SIGTERM

	shared   sync.Map     // of all Conn
	learning sync.RWMutex // guards auto while plans run

	mu     sync.Mutex
	states map[*rest]state // of the first undisturbed run
}

// undisturbed is how many undisturbed runs there are.
const undisturbed = 3

// prepare checks the arguments and looks at the prepared API.
func (x *explorer) prepare() error {
	if err := x.s.check(); err != nil {
		return err
	}
	for i, text := range x.s.Mask {
		m, err := parseMask(text)
		if err != nil {
			return fmt.Errorf("Scenario.Mask[%d]: %w", i, err)
		}
		x.masks = append(x.masks, m)
	}
	for name, n := range map[string]int64{"Budget": int64(x.o.Budget), "Runs": int64(x.o.Runs), "Quiet": int64(x.o.Quiet), "Parallel": int64(x.o.Parallel)} {
		if n < 0 {
			return fmt.Errorf("Options.%s: got %d, want 0 or more", name, n)
		}
	}
	return nil
}

// look looks at the kinds and the objects of the prepared API.
func (x *explorer) look() {
	x.double, x.uids, x.owned, x.types = map[string]bool{}, map[string]key{}, map[key]key{}, map[string]*codec.Type{}
	groups := map[string]string{}
	st := (*registry.Store)(x.s.API.Store())
	all := x.s.API.Handler().Kinds()
	for _, k := range all {
		info := k.Info()
		if g, ok := groups[info.Plural]; ok && g != info.Group {
			x.double[info.Plural] = true
		}
		groups[info.Plural] = info.Group
	}
	x.resources, x.called = map[string]bool{}, map[string]meta.TypeMeta{}
	for _, k := range all {
		x.resources[x.resource(k.GroupResource().Group, k.GroupResource().Resource)] = true
		x.called[k.GroupResource().String()] = k.TypeMeta(0)
		x.types[k.GroupResource().String()] = kinds.Of(k).Schema(0)
		for it := range st.Resource(kinds.Of(k)).Present("") {
			x.uids[string(it.UID())] = x.keyOf(it)
			if of, ok := belongsTo(it); ok {
				x.owned[x.keyOf(it)] = of
			}
		}
	}
}

// resource returns the name of a resource in plans: the plural, with the group if several have it.
func (x *explorer) resource(group, plural string) string {
	if x.double[plural] && group != "" {
		return plural + "." + group
	}
	return plural
}

func (x *explorer) keyOf(it *registry.Item) key {
	gr := it.GroupResource()
	return key{x.resource(gr.Group, gr.Resource), objectName(it.Namespace(), it.Name())}
}

// masked reports whether a member is not compared.
func (x *explorer) masked(k key, path string) bool {
	return isEvent(k.resource) || path != "" && x.auto[k.resource+" "+path] || slices.ContainsFunc(x.masks, func(m mask) bool { return m.covers(k, path) })
}

// settles is how often the prepared API may change while undisturbed runs are made. With programs they are made again less often, and only if they do not agree: a
// server renews Leases of its own, and a run takes long.
const (
	settles     = 10
	settlesReal = 3
)

// refer runs the scenario undisturbed, and finds out on what the runs agree. Controllers of the prepared API may still be at work: then
// the runs have begun in different states, and are made again.
func (x *explorer) refer() error {
	for n := 1; ; n++ {
		version := x.s.API.Store().ResourceVersion()
		x.look()
		err := x.referOnce()
		if err == nil && x.unlike == nil || n == settles || x.pace.real && (!x.disagree && x.unlike == nil || n == settlesReal) || version == x.s.API.Store().ResourceVersion() {
			return err
		}
	}
}

func (x *explorer) referOnce() error {
	x.references, x.unlike, x.disagree = nil, nil, false
	lives, err := x.undisturbed()
	if err != nil {
		return err
	}
	x.references = lives
	if x.references[0].total == 0 {
		return errors.New("the controllers send no request: their clients must use Conn.Transport")
	}
	if first := x.references[0]; x.pace.real && !slices.ContainsFunc(first.changes, func(c change) bool { return c.isControllers() }) {
		return errors.New("the controllers change nothing in an undisturbed run" + first.lastOutputs())
	}
	x.findLooseNames()
	x.auto, x.known, x.written, x.states = map[string]bool{}, map[key]bool{}, map[key]bool{}, map[*rest]state{}
	for _, k := range x.uids {
		x.known[k] = true
	}
	for _, l := range x.references {
		l.names.loose = x.names
		for k := range l.objects {
			x.known[key{k.resource, l.names.object(k)}] = true
		}
		for _, k := range slices.Concat(slices.Collect(maps.Keys(l.written)), slices.Collect(maps.Keys(l.own))) {
			x.written[key{k.resource, l.names.object(k)}] = true
		}
		x.usual = max(x.usual, l.total)
	}
	for _, l := range x.references[1:] {
		if err := x.agree(x.references[0], l); err != nil || x.unlike != nil {
			return err
		}
	}
	x.learnWays()
	x.learnQuiet(x.references...)
	return nil
}

// undisturbed makes the undisturbed runs. With programs they go on at once, as far as Options.Parallel allows, and as many come first that rest for long and tell how
// long the others must: a program does not pause each time.
func (x *explorer) undisturbed() ([]*life, error) {
	var lives [undisturbed]*life
	if !x.pace.real {
		for n := range lives {
			lives[n] = x.live(nil, n, true)
			if err := lives[n].problem(); err != nil {
				return nil, err
			}
		}
		return lives[:], nil
	}
	if x.o.Quiet == 0 {
		x.pace.quiet = firstQuiet(x.budget())
		learned := lives[:min(undisturbed, x.parallel())]
		if err := x.liveUndisturbed(learned); err != nil {
			return nil, err
		}
		x.learnQuiet(learned...)
	}
	used := cpuTime()
	if err := x.liveUndisturbed(lives[:]); err != nil {
		return nil, err
	}
	rests := lives[0].rests
	x.gate = newGate(x.o.Parallel, float64(cpuTime()-used)/float64(undisturbed*rests[len(rests)-1].at))
	return lives[:], nil
}

// liveUndisturbed makes undisturbed runs of programs.
func (x *explorer) liveUndisturbed(lives []*life) error {
	x.together(len(lives), func(n int) { lives[n] = x.live(nil, n, true) })
	for _, l := range lives {
		if err := l.problem(); err != nil {
			return err
		}
	}
	return nil
}

// problem returns what is wrong with an undisturbed run.
func (l *life) problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != "" {
		return errors.New(l.fault)
	}
	for _, d := range l.found {
		return fmt.Errorf("the scenario fails undisturbed, in %s: %s", l.x.s.stepName(min(d.step, len(l.x.s.Steps))), d.text)
	}
	if want := len(l.x.s.Steps) + 2; len(l.rests) != want {
		return fmt.Errorf("the scenario stops undisturbed after %d of %d rests: has a function called FailNow?", len(l.rests), want)
	}
	return nil
}

// findLooseNames finds names on which the undisturbed runs do not agree.
func (x *explorer) findLooseNames() {
	x.names = &loose{prefixes: map[key]bool{}, fixed: map[key]bool{}}
	in := map[key]int{}
	for _, l := range x.references {
		for k := range l.objects {
			in[key{k.resource, l.names.object(k)}]++
		}
	}
	for k, n := range in {
		if n == len(x.references) {
			x.names.fixed[k] = true
		} else if i := strings.LastIndexByte(k.object, '-'); i >= 0 {
			x.names.prefixes[key{k.resource, k.object[:i]}] = true
		}
	}
	for _, k := range x.uids {
		x.names.fixed[k] = true
	}
}

// place describes a rest.
func (x *explorer) place(r *rest) string {
	if r.extra != "" {
		return "after " + r.extra
	}
	return "after " + x.s.stepName(r.step)
}

// budget returns how long the search may take.
func (x *explorer) budget() time.Duration {
	switch {
	case x.o.Budget > 0:
		return x.o.Budget
	case x.t != nil && testing.Short():
		return 5 * time.Second
	}
	return time.Minute
}

// explore runs the plans until the budget is spent.
func (x *explorer) explore(plans []plan) *Report {
	r := &Report{Requests: len(x.references[0].requests), Masked: slices.Sorted(maps.Keys(x.auto))}
	c := &collector{x: x, report: r, byText: map[string]*Finding{}, plans: plans, deadline: x.start.Add(x.budget()), reported: x.start, ran: map[string]bool{}}
	if !x.chosen {
		c.classes, c.derived = x.newClasses(), plans
		c.plans = x.resume(c.classes.order(plans))
	}
	if x.memory != nil {
		c.seed = x.memory.Random
	}
	c.seeds = c.seed + randomRuns
	c.judgeReferences()
	var workers sync.WaitGroup
	for range x.parallel() {
		workers.Go(c.work)
	}
	workers.Wait()
	c.finish()
	return r
}

// parallel returns how many runs go on at the same time, at most.
func (x *explorer) parallel() int {
	n := runtime.GOMAXPROCS(0)
	if x.pace.real {
		n = mostRuns(n)
	}
	return cmp.Or(x.o.Parallel, n)
}

// enter waits until there is room for one more run, and returns the function that ends it.
func (x *explorer) enter() (leave func()) {
	if x.gate == nil {
		return func() {}
	}
	x.gate.enter()
	return x.gate.leave
}

// collector hands out plans and collects what they find.
type collector struct {
	x        *explorer
	report   *Report
	deadline time.Time
	reported time.Time

	classes *classes // nil if plans were given
	derived []plan   // of the classes

	mu     sync.Mutex
	plans  []plan          // that are left
	ran    map[string]bool // plans
	seed   uint64          // of the last random plan
	seeds  uint64          // the last one of all
	byText map[string]*Finding
}

// next returns the next plan.
func (c *collector) next() (plan, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := c.x.o.Runs
	switch {
	case !c.x.chosen && time.Now().After(c.deadline), limit > 0 && c.report.Runs >= limit, c.x.abandoned.Load(), c.x.ctx.Err() != nil:
		return plan{}, false
	case len(c.plans) > 0:
		p := c.plans[0]
		c.plans = c.plans[1:]
		c.report.Runs++
		return p, true
	case c.x.chosen || limit == 0 && c.seed >= c.seeds:
		return plan{}, false
	}
	c.seed++
	c.report.Runs++
	if m := c.x.memory; m != nil {
		m.Random = c.seed
	}
	return plan{action: random, seed: 1_000_000 + c.seed}, true
}

// randomRuns is how many random plans follow the others, unless Options.Runs asks for more.
const randomRuns = 50

// work runs plans.
func (c *collector) work() {
	for {
		leave := c.x.enter()
		p, ok := c.next()
		if !ok {
			leave()
			return
		}
		nth := 0
		if p.action == none {
			nth = undisturbed + int(p.seed)
		}
		c.add(p, c.x.live(&p, nth, false))
		leave()
	}
}

// add judges a run.
func (c *collector) add(p plan, l *life) {
	found := c.judge(l)
	c.mu.Lock()
	if p.action != random {
		c.ran[p.String()] = true
	}
	c.x.memory.ran(p, len(found) > 0)
	if l.acted() == 0 {
		c.report.NoHit = append(c.report.NoHit, p.String())
	}
	if l.blind != "" {
		c.report.Blind = append(c.report.Blind, fmt.Sprintf("%q can judge nothing: %s", p, l.blind))
	}
	c.progressLocked()
	if len(found) == 0 {
		c.tellLocked("")
		c.mu.Unlock()
		return
	}
	head := found[0]
	f := c.byText[head.id()]
	if f != nil {
		c.tellLocked("")
	} else {
		f = &Finding{Text: head.text, Where: head.where, id: head.id(), head: head, seen: l.writings(), Outputs: l.outputs(), flag: c.x.planFlag}
		for _, d := range found[1:] {
			f.Details = append(f.Details, d.text)
		}
		c.byText[head.id()] = f
		c.report.Findings = append(c.report.Findings, f)
		c.tellLocked(fmt.Sprintf("%s, by %s", head.text, p))
	}
	f.plans = append(f.plans, p)
	c.mu.Unlock()
}

// tellLocked calls Options.Progress.
func (c *collector) tellLocked(found string) {
	if c.x.o.Progress != nil {
		c.x.o.Progress(Progress{Runs: c.report.Runs, Left: len(c.plans), Findings: len(c.report.Findings), Found: found, Budget: max(0, time.Until(c.deadline))})
	}
}

// progressLocked tells how far a long exploration is.
func (c *collector) progressLocked() {
	now := time.Now()
	if now.Sub(c.reported) < 10*time.Second {
		return
	}
	c.reported = now
	if err := c.x.memory.write(); err != nil {
		c.x.logf("explore: %v", err) // the search ends with the same error if it stays
	}
	rate := float64(c.report.Runs) / now.Sub(c.x.start).Seconds()
	c.x.logf("explore: %d runs, %.0f a second, %d plans left, %d findings", c.report.Runs, rate, len(c.plans), len(c.report.Findings))
}

func (x *explorer) logf(format string, args ...any) {
	if x.o.Logf != nil {
		x.o.Logf(format, args...)
	}
}

// judgeReferences finds what is wrong without a perturbation: a restart at the end that writes.
func (c *collector) judgeReferences() {
	l := c.x.references[0]
	if texts := l.unmaskedAtTheEnd(); len(texts) > 0 {
		c.report.Findings = append(c.report.Findings, &Finding{
			Text: atTheEnd + " writes: " + texts[0], Where: "after " + atTheEnd, Details: texts[1:], Plans: []string{none},
			Again: 1, Of: 1, lines: beside(l.timeline(), l.timeline()), Outputs: l.outputs(), flag: c.x.planFlag,
		})
	}
}

// unmaskedAtTheEnd returns what an undisturbed run writes after the restart at the end.
func (l *life) unmaskedAtTheEnd() []string { return l.x.unrestored(l, len(l.rests)-1) }

// finish sorts the report.
func (c *collector) finish() {
	r := c.report
	c.confirm()
	c.repeatAll()
	c.setApart()
	for _, p := range c.plans {
		r.NotRun = append(r.NotRun, p.String())
	}
	c.x.memory.sort(r.Findings)
	if c.classes != nil {
		r.Covered = c.classes.covered(c.derived, func(p plan) bool { return c.ran[p.String()] || c.x.memory.has(p) })
	}
	r.Elapsed = time.Since(c.x.start)
}

// fileName returns the name of the test as a part of the name of a file.
func (x *explorer) fileName() string {
	return strings.NewReplacer("/", "-", " ", "-").Replace(x.name)
}

// write writes the pages of the findings.
func (x *explorer) write(r *Report) error {
	dir := x.o.Dir
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, f := range r.Findings {
		f.Page = filepath.Join(dir, fmt.Sprintf("%s-%d.html", x.fileName(), i+1))
		if err := os.WriteFile(f.Page, f.html(x.name), 0o644); err != nil {
			return err
		}
	}
	return nil
}
