package yaml

import (
	"encoding/json"
	"fmt"
	"strings"
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

func TestToJSONWritesJSONAsGoDoes(t *testing.T) {
	for _, text := range []string{"", "a", "\x00\x01\b\t\n\v\f\r\x1b\x1f\x7f", `"\/`, "<>&", "\u0085\u2027\u2028\u2029\u202a", "é☺\U0001F600\ufffd", "\xff\xc3a\xe2\x82"} {
		want, err := json.Marshal(text)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(appendJSONString(nil, text)))
	}
	for _, f := range []float64{0, 1, -1.5, 1e-6, 9.9e-7, -1e-9, 1e-10, 1.5e-300, 1e20, 1e21, 1.7e308} {
		want, err := json.Marshal(f)
		require.NoError(t, err)
		got, err := appendJSONFloat(nil, f)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}
}

func TestLastOfTwoKeysWithTheSameNameWins(t *testing.T) {
	for range 20 { // upstream it is either
		got, strictErrs, err := ToJSON([]byte("\"1\": a\n1: b\n"))
		require.NoError(t, err)
		require.Empty(t, strictErrs)
		require.JSONEq(t, `{"1":"b"}`, string(got))
	}
}

func TestManyKeysAreFoundByIndex(t *testing.T) {
	var doc strings.Builder
	for i := range 100 {
		fmt.Fprintf(&doc, "k%d: %d\n", i, i)
	}
	_, strictErrs, err := ToJSON([]byte(doc.String()))
	require.NoError(t, err)
	require.Empty(t, strictErrs)

	doc.WriteString("k3: 4\nk99: 5\n")
	_, strictErrs, err = ToJSON([]byte(doc.String()))
	require.NoError(t, err)
	require.Len(t, strictErrs, 2)
	assert.EqualError(t, strictErrs[0], `line 101: key "k3" already set in map`)
}
