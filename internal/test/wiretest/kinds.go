package wiretest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// kind is the texts that differ for one kind in a scenario of several kinds, by their names, such as $all.
type kind struct {
	name string
	text map[string]string
	// Names whose texts are longest come first, because $all contains $plural.
	names []string
}

// readKinds parses kinds.txt: a line that is not indented names a kind, and each indented line below gives a name and a text.
func readKinds(path string) (map[string]*kind, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	kinds := map[string]*kind{}
	var k *kind
	for number, line := range strings.Split(string(data), "\n") {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "" || name == "#":
		case !strings.HasPrefix(line, " "):
			k = &kind{name: name, text: map[string]string{}}
			kinds[name] = k
		case k == nil || !variable.MatchString(name):
			return nil, fmt.Errorf("%s:%d: want a kind, or a name such as $all and its text below a kind", path, number+1)
		default:
			k.text[name] = strings.TrimSpace(text)
			k.names = append(k.names, name)
		}
	}
	for _, k := range kinds {
		slices.SortStableFunc(k.names, func(a, b string) int { return len(k.text[b]) - len(k.text[a]) })
	}
	return kinds, nil
}

var variable = regexp.MustCompile(`\$[A-Za-z]+`)

// expand replaces names by the texts of the kind.
func (k *kind) expand(line string) string {
	return variable.ReplaceAllStringFunc(line, func(name string) string {
		if text, ok := k.text[name]; ok {
			return text
		}
		return name
	})
}

// abstract is the reverse of expand.
func (k *kind) abstract(line string) string {
	for _, name := range k.names {
		line = replaceWord(line, k.text[name], name)
	}
	return line
}

// abstractOwn is like abstract, for a line that only this kind has: it keeps words such as Lease.
func (k *kind) abstractOwn(line string) string {
	for _, name := range k.names {
		if text := k.text[name]; !letterBegin.MatchString(text) {
			line = replaceWord(line, text, name)
		}
	}
	return line
}

func mapLines(lines []string, wording func(string) string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, wording(line))
	}
	return out
}

// replaceWord replaces a text unless it is part of a longer word, or the version of another group.
func replaceWord(line, text, by string) string {
	var b strings.Builder
	for text != "" {
		start := strings.Index(line, text)
		if start < 0 {
			break
		}
		end := start + len(text)
		if wordEnd.MatchString(line[:start]) && wordBegin.MatchString(text) || wordEnd.MatchString(text) && wordBegin.MatchString(line[end:]) ||
			strings.HasSuffix(line[:start], ".io/") {
			b.WriteString(line[:end])
		} else {
			b.WriteString(line[:start] + by)
		}
		line = line[end:]
	}
	return b.String() + line
}

var (
	letterBegin = regexp.MustCompile(`^[A-Za-z]`)
	wordBegin   = regexp.MustCompile(`^[A-Za-z0-9]`)
	wordEnd     = regexp.MustCompile(`[A-Za-z0-9]$`)
)

// group is the lines that some kinds have in common.
type group struct {
	kinds []string
	lines []string // with names of texts
}

// fold groups the kinds whose lines differ only in the texts of the kind. Groups are in the order of kinds.
func fold(kinds []*kind, lines map[string][]string) []group {
	var groups []group
	for len(kinds) > 0 {
		g := common(kinds, lines)
		groups = append(groups, g)
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool { return slices.Contains(g.kinds, k.name) })
	}
	return groups
}

// common returns the largest group that the first kind belongs to.
func common(kinds []*kind, lines map[string][]string) group {
	first := kinds[0]
	best := group{kinds: []string{first.name}, lines: mapLines(lines[first.name], first.abstractOwn)}
	for _, author := range kinds {
		for _, wording := range []func(string) string{author.abstract, func(line string) string { return line }} {
			g := group{lines: mapLines(lines[author.name], wording)}
			for _, k := range kinds {
				if slices.EqualFunc(g.lines, lines[k.name], func(template, line string) bool { return k.expand(template) == line }) {
					g.kinds = append(g.kinds, k.name)
				}
			}
			if slices.Contains(g.kinds, first.name) && len(g.kinds) > len(best.kinds) {
				best = g
			}
		}
	}
	return best
}
