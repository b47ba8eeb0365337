package reference

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/stanza"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

//go:embed accepted.txt
var acceptedText string

// Accepted is the list of accepted.txt, which explains its format. It records which stanzas were needed.
type Accepted []*accepted

type accepted struct {
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

func (s *accepted) accepts(scenario string, d wiretest.Difference) bool {
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
	stanzas, err := stanza.Parse("accepted.txt", text, []string{"scenarios", "where", "want", "got", "why"}, nil)
	if err != nil {
		return nil, err
	}
	var list Accepted
	for _, s := range stanzas {
		list = append(list, &accepted{
			line:      s.Line,
			scenarios: stanza.Wildcards(strings.Fields(s.Members["scenarios"])...),
			where:     stanza.Wildcards(s.Members["where"]),
			want:      stanza.Wildcards(s.Members["want"]),
			got:       stanza.Wildcards(s.Members["got"]),
		})
	}
	return list, nil
}
