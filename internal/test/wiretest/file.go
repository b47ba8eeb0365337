package wiretest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// File is a text file of a scenario that is played for several kinds, with the answers for each.
type File struct {
	path    string
	about   string
	tags    []string
	kinds   []*kind // one that has no name for a scenario of no kind
	steps   []fileStep
	goldens map[string]Golden // by the name of the kind
}

// fileStep says which kinds a step is for.
type fileStep struct{ kinds []string }

var forKinds = regexp.MustCompile(`^([a-z]+(?:,[a-z]+)*)\| ?(.*)$`)

// LoadFiles reads every *.txt of dir but kinds.txt, ordered by name.
func LoadFiles(dir string) ([]*File, error) {
	kinds, err := readKinds(filepath.Join(dir, "kinds.txt"))
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var files []*File
	for _, path := range paths {
		if filepath.Base(path) == "kinds.txt" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := readFile(path, string(data), kinds)
		if err != nil {
			return nil, fmt.Errorf("%s:%w", path, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// LoadGolden reads the scenarios of all files of dir, ordered by name.
func LoadGolden(dir string) ([]Golden, error) {
	files, err := LoadFiles(dir)
	var goldens []Golden
	for _, f := range files {
		goldens = append(goldens, f.Goldens()...)
	}
	slices.SortFunc(goldens, func(a, b Golden) int { return strings.Compare(a.Scenario.Name, b.Scenario.Name) })
	return goldens, err
}

// Goldens returns the scenario with its answers for each kind.
func (f *File) Goldens() []Golden {
	var goldens []Golden
	for _, k := range f.kinds {
		goldens = append(goldens, f.goldens[k.name])
	}
	return goldens
}

// Path returns where the file was read.
func (f *File) Path() string { return f.path }

// Replace replaces the answers of the scenario of the same name, which must have the same steps.
func (f *File) Replace(g Golden) {
	for _, k := range f.kinds {
		if f.scenarioName(k) == g.Scenario.Name {
			f.goldens[k.name] = g
		}
	}
}

// scenarioName returns the name of the scenario for a kind. A file of one kind has that kind in its own name.
func (f *File) scenarioName(k *kind) string {
	name := strings.TrimSuffix(filepath.Base(f.path), ".txt")
	if len(f.kinds) > 1 {
		return k.name + "-" + name
	}
	return name
}

// lineError is an error at a line.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

func readFile(path, text string, kinds map[string]*kind) (*File, error) {
	f := &File{path: path, goldens: map[string]Golden{}}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	head := slices.Index(lines, "")
	if head < 0 {
		return nil, &lineError{len(lines), errors.New("no empty line after the head")}
	}
	for i, line := range lines[:head] {
		if err := f.readHead(line, kinds); err != nil {
			return nil, &lineError{i + 1, err}
		}
	}
	if len(f.kinds) == 0 {
		f.kinds = []*kind{{}}
	}
	starts := map[int][]string{} // which kinds have a step that starts at a line
	for _, k := range f.kinds {
		g, err := f.readKind(k, lines, head+1, starts)
		if err != nil {
			return nil, err
		}
		f.goldens[k.name] = g
	}
	for i := range lines {
		if names := starts[i]; names != nil {
			f.steps = append(f.steps, fileStep{names})
		}
	}
	return f, nil
}

func (f *File) readHead(line string, kinds map[string]*kind) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "about":
		f.about = rest
	case "tags":
		f.tags = strings.Fields(rest)
	case "kinds":
		for _, name := range strings.Fields(rest) {
			if kinds[name] == nil {
				return fmt.Errorf("kind %s is not in kinds.txt", name)
			}
			f.kinds = append(f.kinds, kinds[name])
		}
	default:
		return fmt.Errorf("%s: want about, tags or kinds", word)
	}
	return nil
}

// readKind reads the steps for one kind, from a line on.
func (f *File) readKind(k *kind, lines []string, from int, starts map[int][]string) (Golden, error) {
	g := Golden{Scenario: Scenario{Name: f.scenarioName(k), About: f.about, Tags: f.tags}}
	m := newMemory(k)
	var step []string
	start := from
	finish := func() error {
		if len(step) == 0 {
			return nil
		}
		if order, ok := strings.CutPrefix(step[0], "order "); ok {
			g.VersionOrder = strings.Fields(order)
			return nil
		}
		r := newStepReader(m, k)
		if err := r.read(step); err != nil {
			return &lineError{start + 1, err}
		}
		g.Scenario.Steps = append(g.Scenario.Steps, r.step)
		g.Expect = append(g.Expect, r.expect)
		starts[start] = append(starts[start], k.name)
		return nil
	}
	for i := from; i < len(lines); i++ {
		line := lines[i]
		if parts := forKinds.FindStringSubmatch(line); parts != nil {
			if !slices.Contains(strings.Split(parts[1], ","), k.name) {
				continue
			}
			line = parts[2]
		}
		if line = k.expand(line); strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, " ") && len(step) > 0 {
			step = append(step, line)
			continue
		}
		if err := finish(); err != nil {
			return g, err
		}
		step, start = []string{line}, i
	}
	if err := finish(); err != nil {
		return g, err
	}
	if g.VersionOrder == nil {
		g.VersionOrder = usualOrder(g.Expect)
	}
	return g, nil
}

func newStepReader(m *memory, k *kind) *stepReader {
	m.sent = nil
	return &stepReader{memory: m, warning: k.text["$warning"], resource: "/" + k.text["$plural"]}
}

var versionSymbol = regexp.MustCompile(`\{rv(\d+)\}`)

// usualOrder returns the symbols of all versions in the outcomes by their numbers: each first shown before the later ones.
func usualOrder(expect []Expected) []string {
	highest := 0
	for _, e := range expect {
		for _, tree := range []any{e.JSON, e.Events, e.Text, e.Headers} {
			for _, match := range versionSymbol.FindAllStringSubmatch(compact(tree), -1) {
				number, _ := strconv.Atoi(match[1])
				highest = max(highest, number)
			}
		}
	}
	var order []string
	for i := range highest {
		order = append(order, fmt.Sprintf("{rv%d}", i+1))
	}
	return order
}

// Text returns the file as it is stored.
func (f *File) Text() string {
	var b strings.Builder
	f.writeHead(&b)
	memories, next := map[string]*memory{}, map[string]int{}
	for _, k := range f.kinds {
		memories[k.name] = newMemory(k)
	}
	for _, step := range f.steps {
		requests, answers := map[string][]string{}, map[string][]string{}
		for _, k := range f.kinds {
			if !slices.Contains(step.kinds, k.name) {
				continue
			}
			g, i := f.goldens[k.name], next[k.name]
			next[k.name]++
			r := newStepReader(memories[k.name], k)
			r.sent = g.Scenario.Steps[i].sentTree()
			requests[k.name] = requestLines(g.Scenario.Steps[i])
			answers[k.name] = r.answerLines(g.Scenario.Steps[i], g.Expect[i])
		}
		for _, part := range fold(f.those(step.kinds), requests) {
			f.writeLines(&b, part, len(f.kinds), true)
			f.writeAnswers(&b, f.those(part.kinds), answers)
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

// those returns the kinds of the given names, in the order of the file.
func (f *File) those(names []string) []*kind {
	var kinds []*kind
	for _, k := range f.kinds {
		if slices.Contains(names, k.name) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// writeAnswers writes the answers line by line where all have as many lines, otherwise each as a whole.
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

// writeLines writes the lines of some of all kinds. Those of a step begin with one that is not indented.
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
