package explore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// verdict is one thing that is wrong in a perturbed run.
type verdict struct {
	class string
	key   key
	path  string
	where string
	text  string
}

// id is equal for verdicts that mean the same.
func (v *verdict) id() string { return v.class + " " + v.key.resource + " " + v.path }

// judge compares a run with the undisturbed ones. What comes first in the result happened first.
func (x *explorer) judge(l *life) (out []verdict) {
	if stuck := l.stuck(); stuck != nil {
		return []verdict{x.verdictOf(*stuck)} // it may still be at work
	}
	l.names.loose = x.names
	if l.blind != "" {
		return nil
	}
	if l.plan.adds() {
		return x.judgeAdded(l)
	}
	out = x.judgeRests(l)
	for _, k := range slices.SortedFunc(maps.Keys(l.written), compareKeys) {
		k := key{k.resource, l.names.object(k)}
		if x.known[k] && !x.written[k] && !x.masked(k, "") {
			out = append(out, verdict{"foreign", k, "", "", fmt.Sprintf("%s was changed by the controller, which leaves it alone undisturbed", k)})
		}
	}
	for _, d := range l.found {
		v := x.verdictOf(d)
		if d.class != "leak" && d.class != "ends" && d.class != "step" && d.class != "api" || len(out) == 0 {
			out = slices.Insert(out, 0, v)
		}
	}
	return byHarm(out)
}

// undisturbedAt is stateAt of the first undisturbed run, which is computed once for each rest.
func (x *explorer) undisturbedAt(same, other *rest) state {
	n := &x.references[0].names
	x.mu.Lock()
	s, ok := x.states[same]
	if !ok {
		s = n.stateAt(same, same)
		x.states[same] = s
	}
	x.mu.Unlock()
	s = maps.Clone(s)
	n.at(same).addPrepared(s, same, other)
	return s
}

// judgeAdded judges a run in which another client adds something: its other differences are what the controllers make of that.
func (x *explorer) judgeAdded(l *life) (out []verdict) {
	for _, d := range l.found {
		if d.class == "panic" || d.class == "lost" || d.class == "rest" {
			out = append(out, x.verdictOf(d))
		}
	}
	if len(out) > 0 && out[0].class == "lost" && l.plan.action != addFinalizer && x.takesAway(*l.plan) {
		return nil
	}
	return out
}

func (x *explorer) verdictOf(d discovery) verdict {
	where := "in " + x.s.stepName(min(d.step, len(x.s.Steps)))
	return verdict{d.class, d.key, "", where, where + ": " + d.text}
}

// judgeRests compares the rests of a run with those of the undisturbed ones.
func (x *explorer) judgeRests(l *life) (out []verdict) {
	for i := l.firstJudged(); i < len(l.rests) && len(out) == 0; i++ { // what follows is a consequence
		out = x.judgeRest(l, i)
	}
	return out
}

// firstJudged returns the number of the first rest that is judged. Random plans are judged at the last rests only.
func (l *life) firstJudged() int {
	if l.plan.action == random {
		return max(0, len(l.rests)-2)
	}
	return 0
}

func (x *explorer) judgeRest(l *life, i int) (out []verdict) {
	ref, r := x.references[0], &l.rests[i]
	same, at := ref.restOf(r)
	where := x.place(r)
	for _, d := range compare(x.undisturbedAt(same, r), l.names.stateAt(r, same), x.masked) {
		if d.path == missing && x.unaskedFor(l, i, d.key) {
			continue
		}
		out = append(out, verdict{"state", d.key, d.path, where, where + ": " + d.text})
	}
	if !l.plan.hides(r.step) {
		out = append(out, x.judgeCounts(l, i, where)...)
	}
	if l.plan.action != random {
		out = append(out, x.judgeWay(l, i, where)...)
	}
	if texts := x.unrestored(l, i); r.extra == atTheEnd && len(texts) > 0 && len(x.unrestored(ref, at)) == 0 && !l.actsOnRequestIn(i) {
		out = append(out, verdict{"restart", key{texts[0], ""}, "", where, where + ": something is written: " + strings.Join(texts, ", ")})
	}
	return out
}

// leadsTo returns what is wrong at the first rest where a finding comes again, with the finding first, or nil. Something else may be wrong at a rest before it, if
// only because the run rests for longer.
func (x *explorer) leadsTo(l *life, id string) []verdict {
	if l.stuck() != nil || l.blind != "" || l.plan.adds() || l.plan.action == none {
		return nil
	}
	for i := l.firstJudged(); i < len(l.rests); i++ {
		out := byHarm(x.judgeRest(l, i))
		if at := slices.IndexFunc(out, func(v verdict) bool { return v.id() == id }); at >= 0 {
			return slices.Concat(out[at:at+1], out[:at], out[at+1:])
		}
	}
	return nil
}

// unaskedFor reports whether a run need not have an object at a rest that is left undisturbed: the process has not made it before it was down, and what the step has
// deleted then, and nobody has made again, is what the object was for. Owners and names tell.
func (x *explorer) unaskedFor(l *life, i int, k key) bool {
	if l.plan.action != down || len(l.trackedAt(i, k)) > 0 {
		return false
	}
	ref := x.references[0]
	isFor := func(owner *registry.Item) bool {
		name := k.object[strings.LastIndexByte(k.object, '/')+1:]
		return strings.Contains("-"+name+"-", "-"+owner.Name()+"-") || slices.ContainsFunc(ref.changes, func(c change) bool {
			return c.New != nil && ref.named(&c) == k &&
				slices.ContainsFunc(c.New.Metadata().OwnerReferences, func(o meta.OwnerReference) bool { return o.UID == owner.UID() })
		})
	}
	stays := func(it *registry.Item) bool { return it != nil && it.Metadata().DeletionTimestamp == nil }
	return slices.ContainsFunc(ref.changes, func(c change) bool {
		return c.step == l.plan.step && !stays(c.New) && !c.isControllers() && isFor(c.Newest()) &&
			!slices.ContainsFunc(l.trackedAt(i, ref.named(&c)), func(t tracked) bool { return stays(t.now) })
	})
}

// actsOnRequestIn reports whether something went wrong for a request before a rest: then the controller may have to write something again.
func (l *life) actsOnRequestIn(rest int) bool {
	onRequest, _, _ := actions()
	return l.acts > 0 && l.actedIn == rest && slices.Contains(onRequest, l.plan.action)
}

// The extras of rests that follow no step.
const (
	atTheEnd   = "a restart at the end"
	theRestart = "the restart"
)

// restOf returns the rest of an undisturbed run that a rest is compared with, and its number.
func (l *life) restOf(r *rest) (*rest, int) {
	for i := range l.rests {
		if same := &l.rests[i]; same.step == r.step && (same.extra == r.extra || same.extra == "" && r.extra != atTheEnd) {
			return same, i
		}
	}
	return &l.rests[len(l.rests)-1], len(l.rests) - 1
}

// judgeCounts compares how often objects were created and deleted since the rest before. What differs must differ from each undisturbed run.
func (x *explorer) judgeCounts(l *life, i int, where string) (out []verdict) {
	r := &l.rests[i]
	var all []count
	for n, ref := range x.references {
		want := ref.sinceRest(l, i)
		differ := x.countsDiffer(ref, want, l, r)
		if n == 0 {
			all = differ
			continue
		}
		all = slices.DeleteFunc(all, func(c count) bool {
			return !slices.ContainsFunc(differ, func(d count) bool { return d.key == c.key && d.what == c.what })
		})
	}
	for _, c := range all {
		madeLate := i > 0 && c.what == "created" && c.got == 1 && c.want == 0 && x.unaskedFor(l, i-1, c.key)
		if madeLate || c.pair && x.mayMiss(l, i, c.key) || c.got == 0 && x.unaskedFor(l, i, c.key) {
			continue
		}
		out = append(out, verdict{"count", c.key, c.what, where, fmt.Sprintf("%s: %s was %s %s, in the undisturbed run %s", where, c.key, c.what, times(c.got), times(c.want))})
	}
	return out
}

// sinceRest returns what an undisturbed run did between two rests of another.
func (l *life) sinceRest(other *life, i int) *rest {
	want := rest{made: map[key]int{}, gone: map[key]int{}}
	first, last := l.span(other, i)
	for n := first; n <= last; n++ {
		for k, c := range l.rests[n].made {
			want.made[k] += c
		}
		for k, c := range l.rests[n].gone {
			want.gone[k] += c
		}
	}
	return &want
}

// span returns the first and the last rest of an undisturbed run that a rest of another stands for. These are several if the process was down for a rest, and
// none, so that the last is before the first, after a restart of the other.
func (l *life) span(other *life, i int) (first, last int) {
	r := &other.rests[i]
	same, last := l.restOf(r)
	if r.extra != "" && same.extra == "" {
		return last + 1, last
	}
	if i > 0 {
		_, before := l.restOf(&other.rests[i-1])
		first = min(before+1, last)
	}
	return first, last
}

// mayMiss reports whether a controller may miss to create and delete an object, or to delete and create it. It need not make for a while what nobody
// wants any more. It must replace an object that is there, unless others have changed something and changed it back.
func (x *explorer) mayMiss(l *life, i int, k key) bool {
	if l.rests[i].others > 1 {
		return true
	}
	return !slices.ContainsFunc(l.trackedAt(i, k), func(t tracked) bool { return t.now != nil })
}

// count is how often an object was created or deleted in two runs.
type count struct {
	key       key
	what      string
	want, got int
	pair      bool // a creation and a deletion are missing
}

// countsDiffer returns the counts on which two runs do not agree, in the order of the keys, without what is masked.
func (x *explorer) countsDiffer(a *life, ra *rest, b *life, rb *rest) (out []count) {
	wantMade, gotMade := a.names.counts(ra.made), b.names.counts(rb.made)
	wantGone, gotGone := a.names.counts(ra.gone), b.names.counts(rb.gone)
	add := func(what string, want, got map[key]int) {
		for _, k := range allKeys(want, got) {
			if want[k] != got[k] && !x.masked(k, "") {
				made := wantMade[k] - gotMade[k]
				out = append(out, count{k, what, want[k], got[k], made > 0 && made == wantGone[k]-gotGone[k]})
			}
		}
	}
	add("created", wantMade, gotMade)
	add("deleted", wantGone, gotGone)
	return out
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// unrestored returns what was written before a rest, in words, without what is masked, and without what a process has undone that changed the object at its
// end: an elector lets go its Lease, and takes it again.
func (x *explorer) unrestored(l *life, i int) (out []string) {
	r := &l.rests[i]
	for _, w := range r.changes {
		if x.masked(key{w.key.resource, l.names.object(w.key)}, "") || r.stopped[w.key] && i > 0 && l.equalAt(w.key, &l.rests[i-1], r) {
			continue
		}
		out = append(out, w.text)
	}
	return out
}

// equalAt reports whether an object is the same at two rests.
func (l *life) equalAt(k key, a, b *rest) bool {
	x, y := a.objects[k].now, b.objects[k].now
	if x == nil || y == nil {
		return x == y
	}
	return reflect.DeepEqual(l.names.at(a).tree(x), l.names.at(b).tree(y))
}
