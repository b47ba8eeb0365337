package reference

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

func TestAcceptedListCanBeRead(t *testing.T) {
	list, err := ReadAccepted()
	require.NoError(t, err)
	for _, a := range list {
		assert.False(t, a.scenarios.MatchString("any-scenario"), "accepted.txt:%d accepts every scenario", a.line)
	}
}

func TestAcceptedStanzaCoversOnlyItsOwnDifferences(t *testing.T) {
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
			list, err := ParseAccepted("# comment\n\n" + stanza)
			require.NoError(t, err)
			require.Len(t, list, 1)
			assert.Equal(t, 3, list[0].line)
			assert.Equal(t, []string{"accepted.txt:3: no difference matches this stanza"}, list.Unneeded())
			assert.Equal(t, row.want, list.Accepts(row.scenario, row.d))
			assert.Equal(t, row.want, len(list.Unneeded()) == 0)
		})
	}
}

func TestAcceptedStanzaNeedsAllMembers(t *testing.T) {
	_, err := ParseAccepted("# a\n\nscenarios a\nwhere b\nwant c\nwhy d")
	assert.EqualError(t, err, "accepted.txt: stanza at line 3: has no got")
}
