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

func TestStrictErrorsAreTheTextsOfWarnings(t *testing.T) {
	_, strictErrs, err := ToJSON([]byte("a: 1\nb:\n  name: x\n  uid: y\n  name: z\na: 2\n"))
	require.NoError(t, err)
	require.Len(t, strictErrs, 2)
	assert.EqualError(t, strictErrs[0], `line 5: key "name" already set in map`)
	assert.EqualError(t, strictErrs[1], `line 6: key "a" already set in map`)
}

func TestStrictErrorOfNoDuplicatesIsNil(t *testing.T) {
	_, strictErrs, err := ToJSON([]byte("a: 1\n"))
	require.NoError(t, err)
	assert.NoError(t, StrictError(strictErrs))
}

func TestLastOfTwoKeysWithTheSameNameWins(t *testing.T) {
	for range 20 { // upstream it is either
		got, strictErrs, err := ToJSON([]byte("\"1\": a\n1: b\n"))
		require.NoError(t, err)
		require.Empty(t, strictErrs)
		require.JSONEq(t, `{"1":"b"}`, string(got))
	}
}

func TestErrorsShowTheLastOfDuplicates(t *testing.T) {
	_, _, err := ToJSON([]byte("? {a: 1, a: 2}\n: c\n"))
	require.EqualError(t, err, `yaml: invalid map key: map[interface {}]interface {}{"a":2}`)
}

func TestFirstOfSeveralMistakesIsReported(t *testing.T) {
	for range 20 { // upstream it is any
		_, _, err := ToJSON([]byte("b: {~: 1}\na: [{18446744073709551615: 2}]\nc: .nan\n\"\": 3\n~: 4"))
		require.EqualError(t, err, "unsupported map key of type: %!s(<nil>), key: <nil>, value: 4")
		_, _, err = ToJSON([]byte("b: .inf\na: .nan\n"))
		require.EqualError(t, err, "json: unsupported value: NaN")
	}
}
