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
	kinds   []*kind           // one that has no name for a scenario of no kind
	steps   [][]string        // the names of the kinds that a step is for
	goldens map[string]Golden // by the name of the kind
}

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

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Text returns the stored form of a scenario of no kind.
func (g Golden) Text() string {
	k := &kind{}
	f := &File{about: g.Scenario.About, tags: g.Scenario.Tags, kinds: []*kind{k}, goldens: map[string]Golden{"": g}}
	for range g.Scenario.Steps {
		f.steps = append(f.steps, []string{""})
	}
	return f.Text()
}

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
			f.steps = append(f.steps, names)
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
	for _, step := range stepsOf(k, lines, from) {
		if order, ok := strings.CutPrefix(step.lines[0], "order "); ok {
			g.VersionOrder = strings.Fields(order)
			continue
		}
		s := newStepText(m, k)
		if err := s.read(step.lines); err != nil {
			return g, &lineError{step.start + 1, err}
		}
		g.Scenario.Steps = append(g.Scenario.Steps, s.step)
		g.Expect = append(g.Expect, s.expect)
		starts[step.start] = append(starts[step.start], k.name)
	}
	if g.VersionOrder == nil {
		g.VersionOrder = usualOrder(g.Expect)
	}
	return g, nil
}

// stepLines are the lines of a step, as one kind reads them.
type stepLines struct {
	start int // index in the file
	lines []string
}

// stepsOf splits lines into steps. It leaves out lines for other kinds and empty ones.
func stepsOf(k *kind, lines []string, from int) []stepLines {
	var steps []stepLines
	for i := from; i < len(lines); i++ {
		line := lines[i]
		if parts := forKinds.FindStringSubmatch(line); parts != nil {
			if !slices.Contains(strings.Split(parts[1], ","), k.name) {
				continue
			}
			line = parts[2]
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !strings.HasPrefix(line, " ") || len(steps) == 0 {
			steps = append(steps, stepLines{start: i})
		}
		last := &steps[len(steps)-1]
		last.lines = append(last.lines, k.expand(line))
	}
	return steps
}

var versionSymbol = regexp.MustCompile(`\{rv(\d+)\}`)

// usualOrder returns the symbols of all versions in the outcomes in order of their numbers, which is the order of appearance.
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
