package ownership

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Scenario is a list of writes to one object of a kind.
type Scenario struct {
	Kind   string
	Writes []Write
}

// Verb is the kind of a write.
type Verb string

// Force is an apply that takes fields from other managers.
const (
	Update Verb = "update"
	Apply  Verb = "apply"
	Force  Verb = "force"
)

// Write is one write and its answer.
type Write struct {
	Verb        Verb
	Manager     string
	Version     string // without the group
	Subresource string
	Second      int    // of the clock
	Document    string // of the request
	Answer      []string
}

// Owners returns the lines of an answer for managedFields.
func Owners(entries []meta.ManagedFieldsEntry) []string {
	var lines []string
	for _, e := range entries {
		second, fields := "-", "-"
		if e.Time != nil {
			second = strconv.Itoa(e.Time.Second())
		}
		if e.FieldsV1 != nil {
			fields = string(e.FieldsV1.Raw)
		}
		lines = append(lines, fmt.Sprintf("owner %q %s %s %s %s %s", e.Manager, e.Operation, e.APIVersion, cmp.Or(e.Subresource, "-"), second, fields))
	}
	return lines
}

// Error returns the line of an answer for an error. The lines of the message are sorted, because upstream walks maps in
// random order.
func Error(code int, message string) string {
	lines := strings.Split(message, "\n")
	slices.Sort(lines[1:])
	return fmt.Sprintf("error %d %q", code, strings.Join(lines, "\n"))
}

// Format returns the text of scenarios.
func Format(scenarios []Scenario) string {
	var b strings.Builder
	for i, s := range scenarios {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.Kind + "\n")
		for _, w := range s.Writes {
			fmt.Fprintf(&b, "%s %q %s %s %d %s\n", w.Verb, w.Manager, w.Version, cmp.Or(w.Subresource, "-"), w.Second, w.Document)
			for _, line := range w.Answer {
				b.WriteString("  " + line + "\n")
			}
		}
	}
	return b.String()
}

// Load reads the scenarios of a file.
func Load(file string) ([]Scenario, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []Scenario
	for block := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n\n") {
		lines := strings.Split(block, "\n")
		s := Scenario{Kind: lines[0]}
		for _, line := range lines[1:] {
			if answer, ok := strings.CutPrefix(line, "  "); ok && len(s.Writes) > 0 {
				w := &s.Writes[len(s.Writes)-1]
				w.Answer = append(w.Answer, answer)
				continue
			}
			w, err := parse(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, line, err)
			}
			s.Writes = append(s.Writes, w)
		}
		out = append(out, s)
	}
	return out, nil
}

func parse(line string) (w Write, err error) {
	if _, err = fmt.Sscanf(line, "%s %q %s %s %d", &w.Verb, &w.Manager, &w.Version, &w.Subresource, &w.Second); err != nil {
		return Write{}, err
	}
	w.Document = line[strings.IndexByte(line, '{'):]
	w.Subresource = strings.TrimPrefix(w.Subresource, "-")
	return w, nil
}
