// Package session reads and writes shell sessions, the scenarios of the kubectl
// tests: commands and their output. It does not run them. Normalizer makes two
// correct runs comparable.
//
// A session is text. Lines that are not indented are prose. A paragraph of prose
// and the steps below it form a part. Lines indented by two blanks are a step:
//
//	A lease that does not exist.
//
//	  $ kubectl get lease nope
//	  2> Error from server (NotFound): leases.coordination.k8s.io "nope" not found
//	  [exit 1]
//
// A command may continue in lines that start with "> ". Below it are the lines of
// standard output, the lines of standard error after "2> ", and the exit status
// if it is not 0. "[no newline]" ends an output without a final newline, and
// "(blank)" is a blank line at its beginning or end. If kubectls differ, each has
// its own result below a line with its name in brackets.
//
// Two kinds of prose restrict the steps up to the next prose. In the first
// paragraph they restrict all steps of the session:
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
	// Variants are the names that results may have.
	Variants []string
	Parts    []*Part
}

// Part is a paragraph of prose and the steps below it.
type Part struct {
	Prose []string
	Steps []*Step

	// Only is the only variant that runs the steps, or "" for all.
	// NotOnReference reports whether only this project's server can run them.
	Only           string
	NotOnReference bool
	// Reason is the reason for Only or NotOnReference.
	Reason string
}

// Step is a command and its output by variant. If all variants print the same,
// there is one result with the empty name.
type Step struct {
	Command string
	Results map[string]string
}

// Result returns the output of the step in the format of Format.
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

// direct reads prose that restricts the steps.
func (p *Part) direct(line string, variants []string) error {
	runner, reason, found := strings.Cut(line, ": ")
	only, isOnly := strings.CutPrefix(runner, "Only ")
	switch {
	case !found:
		return nil
	case isOnly && slices.Contains(variants, only):
		p.Only, p.Reason = only, reason
	case isOnly:
		return fmt.Errorf("nobody is called %q", only)
	case runner == "Not on the reference":
		p.NotOnReference, p.Reason = true, reason
	}
	return nil
}

// String returns the session as text that Parse reads.
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

// Output is the output and the exit status of a command.
type Output struct {
	Stdout, Stderr string
	Code           int
}

// Format returns an output as the text of a result.
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

// Record sets the results of a step by variant. It keeps equal results once.
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
