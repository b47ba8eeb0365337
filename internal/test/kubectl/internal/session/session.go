// Package session reads and writes what somebody typed at a shell, and what
// was printed: the scenarios of the kubectl tests. It runs nothing; Normalizer
// says how two honest runs are made comparable.
//
// A session is text. Lines that are not indented are prose; a paragraph of
// prose and the commands below it belong together. What is indented by two
// blanks is a step:
//
//	Somebody else's lease is not there.
//
//	  $ kubectl get lease nope
//	  2> Error from server (NotFound): leases.coordination.k8s.io "nope" not found
//	  [exit 1]
//
// A command may go on in lines that start with "> ". Then come the lines of
// standard output, those of standard error after "2> ", and the exit status if
// it is not 0. "[no newline]" ends an output whose last line does not end, and
// "(blank)" stands for a blank line at its beginning or end. Where kubectls differ, each
// has its own result below a line with its name in brackets.
//
// Two kinds of prose say who runs the steps below, up to the next prose, or if
// they are in the first paragraph, those of the whole session:
//
//	Only current: reason
//	Not on the reference: reason
package session

import (
	"fmt"
	"slices"
	"strings"
)

// Session is one file.
type Session struct {
	// Variants are the names under which results may be kept.
	Variants []string
	Parts    []*Part
}

// Part is a paragraph of prose and the steps below it.
type Part struct {
	Prose []string
	Steps []*Step

	// Only is the variant that the steps are for, if not for all, and
	// NotOnReference says that only this project's own server can run them.
	Only           string
	NotOnReference bool
	// Reason is why.
	Reason string
}

// Step is a command and what it printed, by variant. Where all variants
// printed the same there is one result, by the empty name.
type Step struct {
	Command string
	Results map[string]string
}

// Result returns what the step printed, as Format has it.
func (s *Step) Result(variant string) string {
	if r, ok := s.Results[variant]; ok {
		return r
	}
	return s.Results[""]
}

const (
	indent = "  "
	blank  = "(blank)"
	noEOL  = "[no newline]"
)

// Parse reads a session. The variants are the names that results may have.
func Parse(text string, variants ...string) (*Session, error) {
	s := &Session{Variants: variants}
	var (
		part    *Part
		step    *Step
		result  []string // of the step, by the variant
		variant string
	)
	finishResult := func() {
		if step != nil {
			step.Results[variant] = strings.Trim(strings.Join(result, "\n"), "\n")
		}
		result, variant = nil, ""
	}
	inCommand := false
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		body, indented := strings.CutPrefix(line, indent)
		command, starts := strings.CutPrefix(body, "$ ")
		more, continues := strings.CutPrefix(body, "> ")
		if body == ">" {
			more, continues = "", true
		}
		name := strings.TrimSuffix(strings.TrimPrefix(body, "["), "]")
		switch {
		case line == "":
			result = append(result, "")
			inCommand = false
		case !indented:
			finishResult()
			step = nil
			if part == nil || len(part.Steps) > 0 {
				part = &Part{}
				s.Parts = append(s.Parts, part)
			}
			part.Prose = append(part.Prose, line)
			if err := part.direct(line, variants); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		case starts:
			if part == nil {
				return nil, fmt.Errorf("line %d: a command before any prose", i+1)
			}
			finishResult()
			step = &Step{Command: command, Results: map[string]string{}}
			part.Steps = append(part.Steps, step)
			inCommand = true
		case inCommand && continues:
			step.Command += "\n" + more
		case step == nil:
			return nil, fmt.Errorf("line %d: output without a command", i+1)
		case body == "["+name+"]" && slices.Contains(variants, name):
			if variant != "" {
				finishResult()
			}
			variant, inCommand = name, false
		default:
			inCommand = false
			result = append(result, body)
		}
	}
	finishResult()
	for _, p := range s.Parts {
		if first := s.Parts[0]; p.Reason == "" {
			p.Only, p.NotOnReference, p.Reason = first.Only, first.NotOnReference, first.Reason
		}
	}
	return s, nil
}

// direct reads the prose that says who runs the steps.
func (p *Part) direct(line string, variants []string) error {
	who, reason, found := strings.Cut(line, ": ")
	only, isOnly := strings.CutPrefix(who, "Only ")
	switch {
	case !found:
		return nil
	case isOnly && slices.Contains(variants, only):
		p.Only, p.Reason = only, reason
	case isOnly:
		return fmt.Errorf("nobody is called %q", only)
	case who == "Not on the reference":
		p.NotOnReference, p.Reason = true, reason
	}
	return nil
}

// String writes a session as Parse reads it.
func (s *Session) String() string {
	var b strings.Builder
	for _, p := range s.Parts {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		for _, line := range p.Prose {
			b.WriteString(line + "\n")
		}
		for _, step := range p.Steps {
			b.WriteString("\n" + indent + "$ " + strings.ReplaceAll(step.Command, "\n", "\n"+indent+"> ") + "\n")
			if r, ok := step.Results[""]; ok {
				writeResult(&b, r)
				continue
			}
			for _, v := range s.Variants {
				if r, ok := step.Results[v]; ok {
					b.WriteString(indent + "[" + v + "]\n")
					writeResult(&b, r)
				}
			}
		}
	}
	return strings.ReplaceAll(b.String(), indent+"> \n", indent+">\n")
}

func writeResult(b *strings.Builder, r string) {
	if r == "" {
		return
	}
	for line := range strings.SplitSeq(r, "\n") {
		if line != "" {
			line = indent + line
		}
		b.WriteString(line + "\n")
	}
}

// Output is what a command did.
type Output struct {
	Stdout, Stderr string
	Code           int
}

// Format writes an output as results are kept.
func Format(o Output) string {
	var lines []string
	stream := func(prefix, text string) {
		if text == "" {
			return
		}
		text, ended := strings.CutSuffix(text, "\n")
		split := strings.Split(text, "\n")
		for i := 0; i < len(split) && split[i] == ""; i++ {
			split[i] = blank
		}
		for i := len(split) - 1; i >= 0 && split[i] == ""; i-- {
			split[i] = blank
		}
		for _, line := range split {
			if line != "" || prefix != "" {
				line = strings.TrimRight(prefix+line, " ")
			}
			lines = append(lines, line)
		}
		if !ended {
			lines = append(lines, noEOL)
		}
	}
	stream("", o.Stdout)
	stream("2> ", o.Stderr)
	if o.Code != 0 {
		lines = append(lines, fmt.Sprintf("[exit %d]", o.Code))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// Record keeps the results of a step, by variant, in the shortest form.
func (s *Step) Record(results map[string]string) {
	s.Results = map[string]string{}
	var first string
	same := true
	for v, r := range results {
		if len(s.Results) == 0 {
			first = r
		}
		same = same && r == first
		s.Results[v] = r
	}
	if same {
		s.Results = map[string]string{"": first}
	}
}
