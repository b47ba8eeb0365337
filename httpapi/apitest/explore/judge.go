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
	made, gone := x.references[0].names.counts(same.made), x.references[0].names.counts(same.gone)
	if r.extra != "" && same.extra == "" {
		made, gone = nil, nil // nothing more is expected
	}
	for _, c := range []struct {
		what      string
		want, got map[key]int
	}{{"created", made, l.names.counts(r.made)}, {"deleted", gone, l.names.counts(r.gone)}} {
		for _, k := range x.unequal(c.want, c.got) {
			out = append(out, verdict{"count", k, c.what, where, fmt.Sprintf("%s: %s was %s %s, in the undisturbed run %s", where, k, c.what, times(c.got[k]), times(c.want[k]))})
		}
	}
	return out
}

// unequal returns the keys of numbers that are not equal, in order, without those that are masked.
func (x *explorer) unequal(want, got map[key]int) (keys []key) {
	all := maps.Clone(got)
	maps.Copy(all, want)
	for _, k := range slices.SortedFunc(maps.Keys(all), compareKeys) {
		if want[k] != got[k] && !x.masked(k, "") {
			keys = append(keys, k)
		}
	}
	return keys
}

// countsDiffer returns a difference between the counts of two undisturbed runs.
func (x *explorer) countsDiffer(a *life, ra *rest, b *life, rb *rest) string {
	for _, c := range []struct {
		what   string
		ra, rb map[key]int
	}{{"created", ra.made, rb.made}, {"deleted", ra.gone, rb.gone}} {
		want, got := a.names.counts(c.ra), b.names.counts(c.rb)
		for _, k := range x.unequal(want, got) {
			return fmt.Sprintf("%s was %s %s, and %s in another run", k, c.what, times(want[k]), times(got[k]))
		}
	}
	return ""
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
