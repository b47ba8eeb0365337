package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/yaml"
)

// objectDiff is an object that differs, as lines of YAML side by side.
type objectDiff struct {
	Name  string
	Lines []diffLine
}

// diffLine is a line of both objects, or of one of them: then the other is nil.
type diffLine struct {
	Got, Want *string
	// Left is how many equal lines were left out here, or 0. Got and Want are then nil.
	Left int
}

// Mark is "+" or "-" for what only one side has, and else a blank.
func (l diffLine) Mark() string {
	switch {
	case l.Left > 0:
		return " "
	case l.Want == nil:
		return "+"
	case l.Got == nil:
		return "-"
	}
	return " "
}

// String returns the line with its mark.
func (l diffLine) String() string {
	switch {
	case l.Left > 0:
		return fmt.Sprintf("  … %d equal lines", l.Left)
	case l.Got != nil:
		return l.Mark() + " " + *l.Got
	}
	return l.Mark() + " " + *l.Want
}

// maxObjects is how many objects of a finding are shown.
const maxObjects = 5

// diffs returns the objects that the verdicts on a run are about, at the rest of the first one.
func (x *explorer) diffs(l *life, found []verdict) (out []objectDiff) {
	i := slices.IndexFunc(l.rests, func(r rest) bool { return x.place(&r) == found[0].where })
	if i < 0 {
		return nil // it is about no rest
	}
	r := &l.rests[i]
	same, _ := x.references[0].restOf(r)
	var want, got state
	seen := map[key]bool{}
	for _, v := range found {
		if v.class != "state" || v.where != found[0].where || seen[v.key] || len(out) == maxObjects {
			continue
		}
		if seen[v.key] = true; want == nil {
			want, got = x.undisturbedAt(same, r), l.names.stateAt(r, same)
		}
		out = append(out, objectDiff{v.key.String(), diffLines(x.text(v.key, got[v.key]), x.text(v.key, want[v.key]))})
	}
	return out
}

// text returns objects as lines of YAML, without the values of what is not compared.
func (x *explorer) text(k key, trees []map[string]any) (lines []string) {
	for i, tree := range trees {
		if i > 0 {
			lines = append(lines, "---")
		}
		copied := x.compared(k, "", tree).(map[string]any)
		if m, ok := copied["metadata"].(map[string]any); ok && len(m) == 0 {
			delete(copied, "metadata")
		}
		text := strings.TrimSuffix(string(yaml.Encode(copied)), "\n")
		lines = append(lines, strings.Split(text, "\n")...)
	}
	return lines
}

// compared returns a copy of a value in which what is masked has no value.
func (x *explorer) compared(k key, path string, v any) any {
	if path != "" && x.masked(k, path) {
		return "<not compared>"
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = x.compared(k, path+"."+name, member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = x.compared(k, path+"[]", v[i])
		}
		return out
	}
	return v
}

// The lines of a diff: how many equal ones are around a difference, and how many of each side are looked at.
const (
	diffAround = 3
	maxLines   = 1000
)

// diffLines aligns the lines of two objects, and leaves out equal lines far from a difference, but for those that a difference is a part of.
func diffLines(got, want []string) []diffLine {
	got, want = got[:min(len(got), maxLines)], want[:min(len(want), maxLines)]
	lengths := lengthsOf(len(got)+1, len(want)+1, func(i, j int) bool { return got[i] == want[j] })
	var all []diffLine
	for i, j := 0, 0; i < len(got) || j < len(want); {
		switch {
		case i < len(got) && j < len(want) && got[i] == want[j]:
			all = append(all, diffLine{Got: &got[i], Want: &want[j]})
			i, j = i+1, j+1
		case i == len(got) || j < len(want) && lengths[i][j+1] >= lengths[i+1][j]:
			all = append(all, diffLine{Want: &want[j]})
			j++
		default:
			all = append(all, diffLine{Got: &got[i]})
			i++
		}
	}
	return shorten(all)
}

// shorten leaves out equal lines that no difference is near or part of.
func shorten(all []diffLine) (out []diffLine) {
	keep := make([]bool, len(all))
	for i, l := range all {
		if l.Mark() == " " {
			continue
		}
		for j := max(0, i-diffAround); j <= min(len(all)-1, i+diffAround); j++ {
			keep[j] = true
		}
		// The lines above with less indentation name the member.
		depth := l.depth()
		for j := i - 1; j >= 0 && depth > 0; j-- {
			if d := all[j].depth(); d < depth && all[j].Mark() == " " {
				keep[j], depth = true, d
			}
		}
	}
	for i := 0; i < len(all); {
		n := i
		for n < len(all) && !keep[n] {
			n++
		}
		switch {
		case n-i > 1:
			out = append(out, diffLine{Left: n - i})
			i = n
		default:
			out = append(out, all[i])
			i++
		}
	}
	return out
}

// depth returns the indentation of a line.
func (l diffLine) depth() int {
	s := l.Got
	if s == nil {
		s = l.Want
	}
	return len(*s) - len(strings.TrimLeft(*s, " -"))
}
