package stanza

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStanzasHaveMembers(t *testing.T) {
	all, err := Parse("list.txt", "# comment\n\nwhy  a reason\n\n\n# another\nwhere  a | b\nwhy x\n", []string{"why"}, []string{"where"})
	require.NoError(t, err)
	assert.Equal(t, []Stanza{
		{3, map[string]string{"why": "a reason"}},
		{5, map[string]string{"why": "x", "where": "a | b"}},
	}, all)
}

func TestBrokenStanzasAreErrors(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"a missing member":        {"# a\n\nwhere a", "list.txt: stanza at line 3: has no why"},
		"a member without a text": {"why \nwhere a", "list.txt: stanza at line 1: has no why"},
		"an unknown member":       {"why a\nwhen b", "list.txt: stanza at line 1: when is unknown"},
		"a member twice":          {"why a\n\nwhere a\nwhere b", "list.txt: stanza at line 3: where stands twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("list.txt", row.text, []string{"why"}, []string{"where"})
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestWildcardsMatchWholeTexts(t *testing.T) {
	e := Wildcards("a.*c", "d")
	for text, want := range map[string]bool{"a.c": true, "a.\nb c": true, "d": true, "abc": false, "a.cd": false, "dd": false, "": false} {
		assert.Equal(t, want, e.MatchString(text), "%q", text)
	}
}
