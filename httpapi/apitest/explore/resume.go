package explore

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// memory is what one search leaves to the next in a file: which plans were run, and which of them failed. A nil memory remembers nothing.
type memory struct {
	path string
	done map[string]bool // as Done

	// Scenario is the test with the names of its parts. A file is for one scenario.
	Scenario string `json:"scenario"`
	// Failed are the plans that led to a finding when they were last run, the simplest of each finding first.
	Failed []string `json:"failed"`
	// Done are the plans that were run since a search had last run all.
	Done []string `json:"done"`
	// Random is how many random plans were run at all. The next search goes on with the seeds that follow.
	Random uint64 `json:"random"`
}

// maxMemory is the size of a resume file beyond which it is not read, in bytes.
const maxMemory = 64 << 20

// scenarioName tells scenarios apart.
func (x *explorer) scenarioName() string {
	var controllers, steps []string
	for i := range x.s.Controllers {
		controllers = append(controllers, x.s.Controllers[i].name())
	}
	for _, s := range x.s.Steps {
		steps = append(steps, s.Name)
	}
	return fmt.Sprintf("%s: %s: %s", x.name, strings.Join(controllers, ", "), strings.Join(steps, ", "))
}

// remember reads the resume file, if there is one. A folder has a file for each test.
func (x *explorer) remember() error {
	path := x.o.Resume
	if path == "" || x.o.Plans != nil {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, x.fileName()+".json")
	}
	m := &memory{path: path, Scenario: x.scenarioName(), done: map[string]bool{}}
	if err := m.read(); err != nil {
		return fmt.Errorf("resume file %s: %w", path, err)
	}
	x.memory = m
	return x.memory.write()
}

// read reads the file, unless there is none.
func (m *memory) read() error {
	f, err := os.Open(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMemory+1))
	if err != nil {
		return err
	}
	if len(data) > maxMemory {
		return fmt.Errorf("got more than %d bytes, want a file that a search has written", maxMemory)
	}
	var got memory
	if err := json.Unmarshal(data, &got); err != nil {
		return fmt.Errorf("want a file that a search has written: %w", err)
	}
	if got.Scenario != m.Scenario {
		return fmt.Errorf("got the scenario %q, want %q: each scenario needs a file of its own", got.Scenario, m.Scenario)
	}
	m.Failed, m.Done, m.Random = got.Failed, got.Done, got.Random
	for _, text := range m.Done {
		m.done[text] = true
	}
	return nil
}

// write replaces the file in one step, so that a search that is interrupted leaves the file of its last progress.
func (m *memory) write() error {
	if m == nil {
		return nil
	}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(m.path), filepath.Base(m.path)+".*")
	if err != nil {
		return fmt.Errorf("resume file: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), m.path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("resume file: %w", err)
	}
	return nil
}

// resume puts the plans that failed first, and leaves out what was run already. If all were, it begins again with all.
func (x *explorer) resume(plans []plan) []plan {
	m := x.memory
	if m == nil {
		return plans
	}
	var failed []plan
	m.Failed = slices.DeleteFunc(m.Failed, func(text string) bool {
		p, err := parsePlan(text)
		if err == nil && x.fits(p) == nil {
			failed = append(failed, p)
			return false
		}
		return true
	})
	isDone := func(p plan) bool { return m.done[p.String()] }
	if !slices.ContainsFunc(plans, func(p plan) bool { return !isDone(p) }) {
		m.Done, m.done = nil, map[string]bool{}
	}
	left := slices.DeleteFunc(slices.Clone(plans), func(p plan) bool { return isDone(p) || slices.Contains(m.Failed, p.String()) })
	return append(failed, left...)
}

// ran remembers a plan that was run.
func (m *memory) ran(p plan, failed bool) {
	if m == nil {
		return
	}
	text := p.String()
	if p.action != random && !m.done[text] {
		m.Done, m.done[text] = append(m.Done, text), true
	}
	i := slices.Index(m.Failed, text)
	switch {
	case failed && i < 0:
		m.Failed = append(m.Failed, text)
	case !failed && i >= 0:
		m.Failed = slices.Delete(m.Failed, i, i+1)
	}
}

// has reports whether a plan was run since all were.
func (m *memory) has(p plan) bool { return m != nil && m.done[p.String()] }

// sort puts the simplest plan of each finding first.
func (m *memory) sort(findings []*Finding) {
	if m == nil {
		return
	}
	var first []string
	for _, f := range findings {
		first = append(first, f.Plans[0])
	}
	slices.SortStableFunc(m.Failed, func(a, b string) int {
		return cmp.Compare(sortsFirst(first, a), sortsFirst(first, b))
	})
}

func sortsFirst(first []string, text string) int {
	if slices.Contains(first, text) {
		return 0
	}
	return 1
}
