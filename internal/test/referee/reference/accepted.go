package reference

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

//go:embed accepted.txt
var acceptedText string

// Accepted is the list of accepted.txt, which explains its format. It records which stanzas were needed.
type Accepted []*stanza

type stanza struct {
	line                        int
	scenarios, where, want, got *regexp.Regexp
	needed                      bool
}

// ReadAccepted returns the list of accepted.txt.
func ReadAccepted() (Accepted, error) { return ParseAccepted(acceptedText) }

// Accepts reports whether a stanza covers a difference of a scenario.
func (a Accepted) Accepts(scenario string, d wiretest.Difference) bool {
	covered := false
	for _, s := range a {
		// Every stanza that covers it counts as needed.
		covered = s.accepts(scenario, d) || covered
	}
	return covered
}

// Unneeded describes the stanzas that have not covered any difference so far.
func (a Accepted) Unneeded() []string {
	var out []string
	for _, s := range a {
		if !s.needed {
			out = append(out, fmt.Sprintf("accepted.txt:%d: no difference matches this stanza", s.line))
		}
	}
	return out
}

func (s *stanza) accepts(scenario string, d wiretest.Difference) bool {
	want, err := json.Marshal(d.Want)
	got, err2 := json.Marshal(d.Got)
	if err != nil || err2 != nil {
		return false
	}
	fits := s.scenarios.MatchString(scenario) && s.where.MatchString(d.Where) && s.want.Match(want) && s.got.Match(got)
	s.needed = s.needed || fits
	return fits
}

// ParseAccepted returns the list of a text in the format of accepted.txt.
func ParseAccepted(text string) (Accepted, error) {
	var list Accepted
	number := 1
	for block := range strings.SplitSeq(text, "\n\n") {
		s, err := parseStanza(block)
		if err != nil {
			return nil, fmt.Errorf("accepted.txt: stanza at line %d: %w", number, err)
		}
		if s != nil {
			s.line = number
			list = append(list, s)
		}
		number += strings.Count(block, "\n") + 2
	}
	return list, nil
}

// parseStanza returns nil for a block that holds comments only.
func parseStanza(block string) (*stanza, error) {
	members := map[string]string{}
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		if members[name] != "" {
			return nil, fmt.Errorf("%s stands twice", name)
		}
		members[name] = strings.TrimSpace(value)
	}
	if len(members) == 0 {
		return nil, nil
	}
	names := []string{"got", "scenarios", "want", "where", "why"}
	if has := slices.Sorted(maps.Keys(members)); !slices.Equal(has, names) {
		return nil, fmt.Errorf("has the members %v, want %v", has, names)
	}
	return &stanza{
		scenarios: wildcards(strings.Fields(members["scenarios"])...),
		where:     wildcards(members["where"]),
		want:      wildcards(members["want"]),
		got:       wildcards(members["got"]),
	}, nil
}

// wildcards returns an expression that matches any of the patterns, in which * matches any text.
func wildcards(patterns ...string) *regexp.Regexp {
	var forms []string
	for _, p := range patterns {
		forms = append(forms, strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, `.*`))
	}
	return regexp.MustCompile(`(?s)^(` + strings.Join(forms, "|") + `)$`)
}
