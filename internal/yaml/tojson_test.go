package yaml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestToJSONConvertsWhatUpstreamConverts(t *testing.T) {
	for _, c := range documentCases() {
		t.Run(c.name, func(t *testing.T) {
			got, strictErrs, err := ToJSON([]byte(c.yaml))
			require.NoError(t, err)
			assert.Equal(t, c.json, string(got))
			if len(strictErrs) > 0 {
				assert.Contains(t, c.name, "merges", "only merges may override without a duplicate, got %v", strictErrs)
			}
		})
	}
}

func TestToJSONRefusesWithTheTextOfUpstream(t *testing.T) {
	for _, c := range errorCases() {
		t.Run(c.name, func(t *testing.T) {
			got, strictErrs, err := ToJSON([]byte(c.yaml))
			assert.EqualError(t, err, c.err)
			assert.Nil(t, got)
			assert.Empty(t, strictErrs)
		})
	}
}

func TestToJSONListsDuplicatesAndTakesTheLastValue(t *testing.T) {
	for _, c := range duplicateCases() {
		t.Run(c.name, func(t *testing.T) {
			got, strictErrs, err := ToJSON([]byte(c.yaml))
			require.NoError(t, err)
			assert.Equal(t, c.json, string(got))
			assert.EqualError(t, StrictError(strictErrs), c.err)
		})
	}
}

func TestStrictErrorOfNoDuplicatesIsNil(t *testing.T) {
	_, strictErrs, err := ToJSON([]byte("a: 1\n"))
	require.NoError(t, err)
	assert.NoError(t, StrictError(strictErrs))
}

// Upstream keeps any of them.
func TestOfTwoKeysWithOneNameTheGreaterTextCounts(t *testing.T) {
	got, _, err := ToJSON([]byte("1: a\n\"1\": b\n"))
	require.NoError(t, err)
	assert.Equal(t, `{"1":"a"}`, string(got))
}
