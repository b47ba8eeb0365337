package session

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sample = `About the first part.

  $ cat > file <<END
  > one
  >
  > two
  > END

  $ kubectl get leases
  NAME   HOLDER

  after a blank line
  2> a warning
  [exit 1]

Only new: old has no such flag.

  $ kubectl version
  [old]
  1
  [new]
  2
  [no newline]

Not on the reference: it cannot.

  $ true
`

func TestParsedSessionPrintsTheSameText(t *testing.T) {
	s, err := Parse(sample, "old", "new")
	require.NoError(t, err)
	assert.Equal(t, sample, s.String())
	require.Len(t, s.Parts, 3)

	get := s.Parts[0].Steps[1]
	assert.Equal(t, "cat > file <<END\none\n\ntwo\nEND", s.Parts[0].Steps[0].Command)
	assert.Equal(t, "kubectl get leases", get.Command)
	assert.Equal(t, "NAME   HOLDER\n\nafter a blank line\n2> a warning\n[exit 1]", get.Result("old"))
	assert.Equal(t, get.Result("old"), get.Result("new"))

	version := s.Parts[1].Steps[0]
	assert.Equal(t, "1", version.Result("old"))
	assert.Equal(t, "2\n[no newline]", version.Result("new"))
}

func TestProseRestrictsTheStepsBelow(t *testing.T) {
	s, err := Parse(sample, "old", "new")
	require.NoError(t, err)
	assert.Equal(t, Part{Prose: s.Parts[0].Prose, Steps: s.Parts[0].Steps}, *s.Parts[0])
	assert.Equal(t, "new", s.Parts[1].Only)
	assert.Equal(t, "old has no such flag.", s.Parts[1].Reason)
	assert.False(t, s.Parts[1].NotOnReference)
	assert.True(t, s.Parts[2].NotOnReference)
	assert.Empty(t, s.Parts[2].Only)
}

func TestFirstParagraphRestrictsTheWholeSession(t *testing.T) {
	s, err := Parse("About.\nOnly new: reason.\n\n  $ one\n\nMore.\n\n  $ two\n", "old", "new")
	require.NoError(t, err)
	require.Len(t, s.Parts, 2)
	assert.Equal(t, "new", s.Parts[1].Only)
	assert.Equal(t, "reason.", s.Parts[1].Reason)
}

func TestInvalidSessionIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a command before any prose": {"  $ true\n", "line 1: a command before any prose"},
		"output without a command":   {"Prose.\n\n  output\n", "line 3: output without a command"},
		"an unknown variant":         {"Only nobody: reason\n", `line 1: nobody is called "nobody"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(tt.text, "old", "new")
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestFormatKeepsBlankLinesAndMissingNewlines(t *testing.T) {
	for name, tt := range map[string]struct {
		out  Output
		want string
	}{
		"nothing":              {Output{}, ""},
		"both streams":         {Output{Stdout: "a\nb\n", Stderr: "c\n", Code: 2}, "a\nb\n2> c\n[exit 2]"},
		"no newline":           {Output{Stdout: "a"}, "a\n[no newline]"},
		"blank lines around":   {Output{Stdout: "\na\n\nb\n\n\n"}, "(blank)\na\n\nb\n(blank)\n(blank)"},
		"a blank line alone":   {Output{Stdout: "\n"}, "(blank)"},
		"blanks at line's end": {Output{Stdout: "a  \n"}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, Format(tt.out))
		})
	}
}

func TestEqualResultsAreRecordedOnce(t *testing.T) {
	var s Step
	s.Record(map[string]string{"old": "a", "new": "a"})
	assert.Equal(t, map[string]string{"": "a"}, s.Results)
	s.Record(map[string]string{"old": "a", "new": "b"})
	assert.Equal(t, map[string]string{"old": "a", "new": "b"}, s.Results)
	s.Record(map[string]string{"new": "b"})
	assert.Equal(t, map[string]string{"": "b"}, s.Results)
}
