package reference

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/wiretest"
)

// acceptance is a stanza of accepted.txt. That file explains the members.
type acceptance struct {
	line                        int
	scenarios, where, want, got *regexp.Regexp
	needed                      bool
}

// accepts reports whether the stanza covers a difference, and remembers that it did.
func (a *acceptance) accepts(scenario string, d wiretest.Difference) bool {
	want, err := json.Marshal(d.Want)
	got, err2 := json.Marshal(d.Got)
	if err != nil || err2 != nil {
		return false
	}
	fits := a.scenarios.MatchString(scenario) && a.where.MatchString(d.Where) && a.want.Match(want) && a.got.Match(got)
	a.needed = a.needed || fits
	return fits
}

// readAccepted parses accepted.txt.
func readAccepted(text string) ([]*acceptance, error) {
	var list []*acceptance
	number := 1
	for stanza := range strings.SplitSeq(text, "\n\n") {
		a, err := readAcceptance(stanza)
		if err != nil {
			return nil, fmt.Errorf("stanza at line %d: %w", number, err)
		}
		if a != nil {
			a.line = number
			list = append(list, a)
		}
		number += strings.Count(stanza, "\n") + 2
	}
	return list, nil
}

// readAcceptance parses one stanza. It returns nil for one that holds comments only.
func readAcceptance(stanza string) (*acceptance, error) {
	members := map[string]string{}
	for line := range strings.Lines(stanza) {
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
	return &acceptance{
		scenarios: wildcards(strings.Fields(members["scenarios"])...),
		where:     wildcards(members["where"]),
		want:      wildcards(members["want"]),
		got:       wildcards(members["got"]),
	}, nil
}

// wildcards returns what matches any of the patterns, in which * stands for any text.
func wildcards(patterns ...string) *regexp.Regexp {
	var forms []string
	for _, p := range patterns {
		forms = append(forms, strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, `.*`))
	}
	return regexp.MustCompile(`(?s)^(` + strings.Join(forms, "|") + `)$`)
}

func loadAccepted(t *testing.T) []*acceptance {
	t.Helper()
	text, err := os.ReadFile("accepted.txt")
	require.NoError(t, err)
	list, err := readAccepted(string(text))
	require.NoError(t, err, "accepted.txt")
	require.NotEmpty(t, list)
	return list
}

func TestAcceptedListCanBeRead(t *testing.T) {
	for _, a := range loadAccepted(t) {
		assert.False(t, a.scenarios.MatchString("any-scenario"), "accepted.txt:%d accepts every scenario", a.line)
	}
}

func TestAcceptedStanzaCoversOnlyWhatItSays(t *testing.T) {
	const stanza = "scenarios  *-a b\nwhere  body /x/*/y\nwant  \"one *\"\ngot  2\nwhy  source"
	for _, row := range []struct {
		name, scenario string
		d              wiretest.Difference
		want           bool
	}{
		{"as written", "lease-a", wiretest.Difference{Where: "body /x/0/y", Want: "one (1)", Got: 2}, true},
		{"the second scenario", "b", wiretest.Difference{Where: "body /x/0/y", Want: "one ", Got: 2}, true},
		{"another scenario", "lease-ab", wiretest.Difference{Where: "body /x/0/y", Want: "one 1", Got: 2}, false},
		{"another place", "b", wiretest.Difference{Where: "body /x", Want: "one 1", Got: 2}, false},
		{"another record", "b", wiretest.Difference{Where: "body /x/0/y", Want: "two", Got: 2}, false},
		{"another answer", "b", wiretest.Difference{Where: "body /x/0/y", Want: "one 1", Got: "2"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			list, err := readAccepted("# comment\n\n" + stanza)
			require.NoError(t, err)
			require.Len(t, list, 1)
			assert.Equal(t, 3, list[0].line)
			assert.Equal(t, row.want, list[0].accepts(row.scenario, row.d))
			assert.Equal(t, row.want, list[0].needed)
		})
	}
}

func TestAcceptedListRefuses(t *testing.T) {
	for _, row := range []struct{ name, text, err string }{
		{"a missing member", "a\n\nscenarios a\nwhere b", "stanza at line 1: has the members [a], want [got scenarios want where why]"},
		{"a member twice", "# a\n\nwhere b\nwhere c", "stanza at line 3: where stands twice"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := readAccepted(row.text)
			assert.EqualError(t, err, row.err)
		})
	}
}

// notAccepted returns the differences of a scenario that no stanza covers.
func notAccepted(list []*acceptance, res wiretest.Result) []wiretest.Difference {
	return slices.DeleteFunc(slices.Clone(res.Differences), func(d wiretest.Difference) bool {
		// Every stanza that covers the difference counts as needed.
		covered := false
		for _, a := range list {
			covered = a.accepts(res.Name, d) || covered
		}
		return covered
	})
}
