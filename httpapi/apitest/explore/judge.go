package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
	ref := x.references[0]
	l.names.loose = x.names
	only := len(l.rests) // random plans are judged at the last rests only
	if l.plan.action == random {
		only = 2
	}
	for i := range l.rests {
		r := &l.rests[i]
		if len(l.rests)-i > only {
			continue
		}
		same := ref.restOf(r)
		where := x.place(r)
		for _, d := range compare(x.undisturbedAt(same, r), l.names.stateAt(r, same), x.masked) {
			out = append(out, verdict{"state", d.key, d.path, where, where + ": " + d.text})
		}
		if !l.plan.hides(r.step) {
			out = append(out, x.judgeCounts(l, r, same, where)...)
		}
		if texts := x.unmasked(r.changes); r.extra == atTheEnd && len(texts) > 0 && len(x.unmasked(same.changes)) == 0 {
			out = append(out, verdict{"restart", key{texts[0], ""}, "", where, where + ": something is written: " + strings.Join(texts, ", ")})
		}
		if len(out) > 0 {
			break // what follows is a consequence
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(l.written), compareKeys) {
		k := key{k.resource, l.names.object(k)}
		if x.known[k] && !x.written[k] && !x.masked(k, "") {
			out = append(out, verdict{"foreign", k, "", "", fmt.Sprintf("%s was changed by the controller, which leaves it alone undisturbed", k)})
		}
	}
	for _, d := range l.found {
		where := "in " + x.s.stepName(min(d.step, len(x.s.Steps)))
		v := verdict{d.class, d.key, "", where, where + ": " + d.text}
		if d.class == "panic" || d.class == "rest" || d.class == "check" || d.class == "lost" || len(out) == 0 {
			out = slices.Insert(out, 0, v)
		}
	}
	return out
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

// atTheEnd is the extra of the last rest.
const atTheEnd = "a restart at the end"

// restOf returns the rest of an undisturbed run that a rest is compared with.
func (l *life) restOf(r *rest) *rest {
	for i := range l.rests {
		if same := &l.rests[i]; same.step == r.step && (same.extra == r.extra || same.extra == "" && r.extra != atTheEnd) {
			return same
		}
	}
	return &l.rests[len(l.rests)-1]
}

// judgeCounts compares how often objects were created and deleted.
func (x *explorer) judgeCounts(l *life, r, same *rest, where string) (out []verdict) {
	want := *same
	if r.extra != "" && same.extra == "" {
		want = rest{} // nothing more is expected
	}
	for _, c := range x.countsDiffer(x.references[0], &want, l, r) {
		out = append(out, verdict{"count", c.key, c.what, where, fmt.Sprintf("%s: %s was %s %s, in the undisturbed run %s", where, c.key, c.what, times(c.got), times(c.want))})
	}
	return out
}

// count is how often an object was created or deleted in two runs.
type count struct {
	key       key
	what      string
	want, got int
}

// countsDiffer returns the counts on which two runs do not agree, in the order of the keys, without what is masked.
func (x *explorer) countsDiffer(a *life, ra *rest, b *life, rb *rest) (out []count) {
	add := func(what string, want, got map[key]int) {
		for _, k := range allKeys(want, got) {
			if want[k] != got[k] && !x.masked(k, "") {
				out = append(out, count{k, what, want[k], got[k]})
			}
		}
	}
	add("created", a.names.counts(ra.made), b.names.counts(rb.made))
	add("deleted", a.names.counts(ra.gone), b.names.counts(rb.gone))
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

// unmasked returns the changes of objects that are compared. Each is "verb resource object by client".
func (x *explorer) unmasked(changes []string) (out []string) {
	for _, c := range changes {
		if words := strings.Fields(c); !x.masked(key{words[1], words[2]}, "") {
			out = append(out, c)
		}
	}
	return out
}
