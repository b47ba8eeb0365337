package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// A finding is reported only if it is the plan that leads to it. This file runs undisturbed again, to see what differs by itself, and the plans again, for
// their rates.

// The numbers of runs that confirm findings.
const (
	again      = 3  // how often a finding is run again
	againMore  = 10 // and if it did not come again
	confirming = 6  // undisturbed runs, if there are findings
	// Undisturbed runs if a finding is about a member and a quarter of the budget is enough for them: a value that one run of eight has by
	// itself stays unseen once in 5,000 times.
	confirmMore = 64
	tried       = 4 // how many plans are tried for one that leads to the finding each time
)

// agree compares two undisturbed runs. Members in which they differ are masked. If they differ in which objects there are, a controller is at fault, unless
// the steps or the World have made different objects too.
func (x *explorer) agree(first, l *life) error {
	for i := range l.rests {
		a, b := &first.rests[i], &l.rests[i]
		where := x.place(a)
		differ := map[key]string{}
		for _, d := range compare(first.names.stateAt(a, b), l.names.stateAt(b, a), x.masked) {
			if strings.HasPrefix(d.path, ".") {
				x.auto[d.key.resource+" "+d.path] = true
			} else {
				differ[d.key] = d.text
			}
		}
		for _, c := range x.countsDiffer(first, a, l, b) {
			if _, ok := differ[c.key]; !ok && !((c.pair || x.pairMissing(first, a, l, b, c.key)) && x.atFault([]key{c.key}, first, l, i)) {
				differ[c.key] = fmt.Sprintf("%s was %s %s, and in another run %s", c.key, c.what, times(c.got), times(c.want))
			}
		}
		if len(differ) == 0 {
			continue
		}
		keys := slices.SortedFunc(maps.Keys(differ), compareKeys)
		if !x.atFault(keys, first, l, i) {
			x.disagree = true
			return fmt.Errorf("the undisturbed runs do not agree %s: %s. Make the scenario deterministic, or name what differs in Scenario.Mask", where, differ[keys[0]])
		}
		f := &Finding{
			Text:  fmt.Sprintf("the undisturbed runs do not agree %s: %s", where, strings.ReplaceAll(differ[keys[0]], "in the undisturbed run", "in another")),
			Where: where, Plans: []string{none}, lines: beside(l.timeline(), first.timeline()), Outputs: l.outputs(), flag: x.planFlag,
		}
		for _, k := range keys[1:] {
			f.Details = append(f.Details, differ[k])
		}
		x.unlike = f
		x.rate(f, first)
		return nil
	}
	return nil
}

// rate runs undisturbed again, to tell how often the runs differ.
func (x *explorer) rate(f *Finding, first *life) {
	f.Of = again
	for n := range again {
		l := x.live(nil, undisturbed+n, false)
		l.names.loose = x.names
		if l.problem() != nil {
			continue
		}
		for i := range l.rests {
			if slices.ContainsFunc(compare(first.names.stateAt(&first.rests[i], &l.rests[i]), l.names.stateAt(&l.rests[i], &first.rests[i]), x.masked),
				func(d difference) bool { return !strings.HasPrefix(d.path, ".") }) {
				f.Again++
				break
			}
		}
	}
}

// pairMissing reports whether the other run lacks a creation and a deletion of an object.
func (x *explorer) pairMissing(a *life, ra *rest, b *life, rb *rest, k key) bool {
	return slices.ContainsFunc(x.countsDiffer(b, rb, a, ra), func(c count) bool { return c.key == k && c.pair })
}

// atFault reports whether controllers have made the objects in which two undisturbed runs differ, or deleted them, and nobody else has.
func (x *explorer) atFault(keys []key, first, l *life, rest int) bool {
	controllers := false
	for _, run := range []*life{first, l} {
		for i := range run.changes {
			c := &run.changes[i]
			if c.rest > rest || c.Old != nil && c.New != nil || !slices.Contains(keys, run.named(c)) {
				continue
			}
			switch {
			case c.isControllers():
				controllers = true
			case c.by != nil:
				return false
			}
		}
	}
	return controllers
}

// judge judges a run. What differs in a run without a perturbation differs by itself: members are masked from then on.
func (c *collector) judge(l *life) []verdict {
	c.x.learning.RLock()
	found := c.x.judge(l)
	c.x.learning.RUnlock()
	if l.plan.action != none {
		return found
	}
	for i := range found {
		found[i].text = strings.ReplaceAll(found[i].text, "the undisturbed run", "another undisturbed run")
	}
	return slices.DeleteFunc(found, func(v verdict) bool {
		if !v.isMember() {
			return false
		}
		c.x.learning.Lock()
		defer c.x.learning.Unlock()
		c.x.auto[v.key.resource+" "+v.path] = true
		return true
	})
}

// isMember reports whether the verdict is about a member of an object.
func (v *verdict) isMember() bool {
	return (v.class == "state" || v.class == "way" || v.class == "moved") && strings.HasPrefix(v.path, ".")
}

// confirm runs undisturbed again if there are findings. What differs there, too, is no finding of a plan.
func (c *collector) confirm() {
	if len(c.byText) == 0 || c.x.abandoned.Load() {
		return
	}
	runs := confirming
	if slices.ContainsFunc(c.report.Findings, func(f *Finding) bool { return f.head.isMember() }) {
		runs = confirmMore
	}
	until := time.Now().Add(c.deadline.Sub(c.x.start) / 4)
	c.x.together(runs, func(n int) {
		if n >= confirming && time.Now().After(until) {
			return
		}
		p := plan{action: none, seed: uint64(undisturbedMore + n)}
		c.add(p, c.x.live(&p, undisturbed+undisturbedMore+n, false))
	})
	for _, f := range slices.Clone(c.report.Findings) {
		head := f.head
		if head.isMember() && c.x.auto[head.key.resource+" "+head.path] {
			delete(c.byText, f.id)
			c.report.Findings = slices.DeleteFunc(c.report.Findings, func(other *Finding) bool { return other == f })
			for _, p := range f.plans[:min(len(f.plans), tried)] { // something else may be wrong with them
				c.add(p, c.x.live(&p, 0, false))
			}
		}
	}
	c.report.Masked = slices.Sorted(maps.Keys(c.x.auto))
}

// confirms reports whether the plan is one of the undisturbed runs that are to rest for as long as those that repeat a finding.
func (p *plan) confirms() bool {
	return p.action == none && p.seed >= undisturbedMore && p.seed < undisturbedMore+confirming
}

// together calls a function for the numbers below n, some at a time.
func (x *explorer) together(n int, f func(int)) {
	var workers sync.WaitGroup
	limit := make(chan struct{}, x.parallel())
	for i := range n {
		workers.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			defer x.enter()()
			f(i)
		})
	}
	workers.Wait()
}

// repeatAll runs the simplest plan of each finding again, for its rate and its timeline.
func (c *collector) repeatAll() {
	all := slices.Collect(maps.Values(c.byText))
	for _, f := range all {
		slices.SortFunc(f.plans, simplest)
		f.plans, f.Plans = ofEachAction(unlikeBefore(f.plans)), nil
		for _, p := range f.plans {
			f.Plans = append(f.Plans, p.String())
		}
	}
	repeat := func(i int) {
		if !c.x.abandoned.Load() {
			c.repeat(all[i])
		}
	}
	if !c.x.pace.real {
		c.x.together(len(all), repeat)
		return
	}
	c.x.gate.slow(patientQuiets)
	var findings sync.WaitGroup // each of their runs waits until there is room for it
	for i := range all {
		findings.Go(func() { repeat(i) })
	}
	findings.Wait()
}

// unlikeBefore leaves out a plan that equals the one before it.
func unlikeBefore(plans []plan) []plan {
	return slices.CompactFunc(plans, func(a, b plan) bool { return a.String() == b.String() })
}

// ofEachAction puts the first plan of each action before the others, as only some are tried: several that have led to a finding by chance, such as the plans none, must
// not keep the one to blame from its turn.
func ofEachAction(plans []plan) []plan {
	var first, others []plan
	for _, p := range plans {
		if slices.ContainsFunc(first, func(q plan) bool { return q.action == p.action }) {
			others = append(others, p)
		} else {
			first = append(first, p)
		}
	}
	return append(first, others...)
}

// repeat looks for a plan that leads to a finding each time. With programs the first is tried alone, the others at once.
func (c *collector) repeat(f *Finding) {
	plans := slices.Clone(f.plans[:min(len(f.plans), tried)])
	results := make([]repetition, len(plans))
	try := func(i int) { results[i] = c.again(&plans[i], f.id, again) }
	best := -1
	for i := range plans {
		switch {
		case i == 0 || !c.x.pace.real:
			try(i)
		case i == 1:
			var others sync.WaitGroup
			for i := range plans[1:] {
				others.Go(func() { try(1 + i) })
			}
			others.Wait()
		}
		r := results[i]
		if r.seen <= best {
			continue
		}
		best = r.seen
		f.plans[0], f.plans[i] = f.plans[i], f.plans[0]
		f.Plans[0], f.Plans[i] = f.Plans[i], f.Plans[0]
		f.Again, f.Of = r.seen, r.of
		f.take(r)
		if best == again {
			return
		}
	}
	if best > 0 {
		return
	}
	r := c.again(&f.plans[0], f.id, againMore)
	f.Again, f.Of = f.Again+r.seen, f.Of+r.of
	if f.take(r); r.seen == 0 {
		f.lines = beside(f.seen, r.wrote)
	}
}

// take takes over what the repetitions have found.
func (f *Finding) take(r repetition) {
	if f.lines = r.lines; r.seen > 0 {
		f.diffs, f.Outputs = r.diffs, r.outputs
		f.Text, f.Where, f.Details = r.found[0].text, r.found[0].where, nil
		for _, d := range r.found[1:] {
			f.Details = append(f.Details, d.text)
		}
	}
}

// repetition is what several runs of one plan have found.
type repetition struct {
	seen, of int // how often a finding came again
	found    []verdict
	diffs    []objectDiff
	lines    []line
	outputs  []Output
	wrote    []*entry // in a run without the finding
}

// again runs a plan several times.
func (c *collector) again(p *plan, id string, n int) (r repetition) {
	lives := make([]*life, n)
	run := func(i int) {
		nth := 0
		if p.action == none {
			nth = undisturbed + undisturbedMore + confirmMore + i
		}
		lives[i] = c.x.live(p, nth, true)
	}
	if c.x.pace.real { // they wait most of the time
		c.x.together(n, run)
	}
	for i := range n {
		if c.x.abandoned.Load() {
			break
		}
		if lives[i] == nil {
			run(i)
		}
		l := lives[i]
		lives[i] = nil
		found := c.judge(l)
		same := len(found) > 0 && found[0].id() == id
		if !same {
			c.x.learning.RLock()
			behind := c.x.leadsTo(l, id)
			c.x.learning.RUnlock()
			if same = behind != nil; same {
				found = behind
			}
		}
		r.of++
		if same {
			r.seen++
			r.found, r.diffs, r.outputs = found, c.x.diffs(l, found), l.outputs()
		} else if r.wrote == nil {
			r.wrote = l.writings()
		}
		if same || r.lines == nil {
			r.lines = beside(l.timeline(), c.x.references[0].timeline())
		}
	}
	return r
}

// setApart moves what did not come again from the findings.
func (c *collector) setApart() {
	r := c.report
	r.Findings = slices.DeleteFunc(r.Findings, func(f *Finding) bool {
		once := f.Again == 0 && f.Of > 0
		if once {
			r.Once = append(r.Once, f)
		}
		return once
	})
	slices.SortStableFunc(r.Findings, func(a, b *Finding) int { return first(b) - first(a) })
}

// first is 1 for a finding without a perturbation, which comes first.
func first(f *Finding) int {
	if strings.HasPrefix(f.Plans[0], none) {
		return 1
	}
	return 0
}

// writings returns what a run wrote, as a timeline.
func (l *life) writings() (out []*entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.changes {
		c := &l.changes[i]
		if isEvent(c.target.resource) || c.target.verb == "update" && len(c.moved) == 0 {
			continue
		}
		out = append(out, &entry{At: c.at, Who: c.writer(), Text: fmt.Sprintf("%s %s %s", c.target.verb, c.target.resource, c.target.object)})
	}
	return out
}
