package wiretest

import (
	"fmt"
	"slices"
	"strings"
)

// Text returns the stored form of the file.
func (f *File) Text() string {
	var b strings.Builder
	f.writeHead(&b)
	memories, next := map[string]*memory{}, map[string]int{}
	for _, k := range f.kinds {
		memories[k.name] = newMemory(k)
	}
	for _, kinds := range f.steps {
		requests, answers := map[string][]string{}, map[string][]string{}
		for _, k := range f.kinds {
			if !slices.Contains(kinds, k.name) {
				continue
			}
			g, i := f.goldens[k.name], next[k.name]
			next[k.name]++
			s := newStepText(memories[k.name], k)
			s.sent = g.Scenario.Steps[i].sentTree()
			requests[k.name] = requestLines(g.Scenario.Steps[i])
			answers[k.name] = s.answerLines(g.Scenario.Steps[i], g.Expect[i])
		}
		for _, part := range fold(f.kindsNamed(kinds), requests) {
			f.writeLines(&b, part, len(f.kinds), true)
			f.writeAnswers(&b, f.kindsNamed(part.kinds), answers)
		}
	}
	f.writeOrder(&b)
	return b.String()
}

func (f *File) writeHead(b *strings.Builder) {
	fmt.Fprintf(b, "about %s\n", f.about)
	if len(f.tags) > 0 {
		fmt.Fprintf(b, "tags %s\n", strings.Join(f.tags, " "))
	}
	if f.kinds[0].name != "" {
		b.WriteString("kinds")
		for _, k := range f.kinds {
			b.WriteString(" " + k.name)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// kindsNamed returns the kinds of the given names, in the order of the file.
func (f *File) kindsNamed(names []string) []*kind {
	var kinds []*kind
	for _, k := range f.kinds {
		if slices.Contains(names, k.name) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// writeAnswers writes the answers line by line if all have equally many lines, otherwise each as a whole.
func (f *File) writeAnswers(b *strings.Builder, kinds []*kind, answers map[string][]string) {
	count := len(answers[kinds[0].name])
	if slices.ContainsFunc(kinds, func(k *kind) bool { return len(answers[k.name]) != count }) {
		for _, part := range fold(kinds, answers) {
			f.writeLines(b, part, len(f.kinds), false)
		}
		return
	}
	for i := range count {
		line := map[string][]string{}
		for _, k := range kinds {
			line[k.name] = answers[k.name][i : i+1]
		}
		for _, part := range fold(kinds, line) {
			f.writeLines(b, part, len(f.kinds), false)
		}
	}
}

func (f *File) writeOrder(b *strings.Builder) {
	orders := map[string][]string{}
	var kinds []*kind
	for _, k := range f.kinds {
		if g := f.goldens[k.name]; !slices.Equal(g.VersionOrder, usualOrder(g.Expect)) {
			orders[k.name] = []string{"order " + strings.Join(g.VersionOrder, " ")}
			kinds = append(kinds, k)
		}
	}
	for _, part := range fold(kinds, orders) {
		f.writeLines(b, part, len(f.kinds), true)
	}
}

// writeLines writes lines of some of the kinds. The first line of a step is not indented.
func (f *File) writeLines(b *strings.Builder, part group, all int, start bool) {
	prefix := ""
	if len(part.kinds) < all {
		prefix = strings.Join(part.kinds, ",") + "| "
	}
	for i, line := range part.lines {
		if i > 0 || !start {
			line = "  " + line
		}
		b.WriteString(strings.TrimRight(prefix+line, " ") + "\n")
	}
}
