package yaml

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func FuzzToJSON(f *testing.F) {
	for _, c := range documentCases() {
		f.Add([]byte(c.yaml))
	}
	for _, c := range errorCases() {
		f.Add([]byte(c.yaml))
	}
	for _, c := range duplicateCases() {
		f.Add([]byte(c.yaml))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, strictErrs, err := ToJSON(doc)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			assert.Nil(t, got)
			assert.Nil(t, strictErrs)
			return
		}
		require.True(t, utf8.Valid(got), "got %q", got)
		require.True(t, json.Valid(got), "got %q", got)
		var v any
		require.NoError(t, json.Unmarshal(got, &v))
		for _, err := range strictErrs {
			assert.NotContains(t, err.Error(), "\n")
		}
	})
}

func FuzzFromJSON(f *testing.F) {
	for _, c := range outputCases() {
		f.Add([]byte(c.json))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) {
			return
		}
		want, _, err := ToJSON(doc)
		got, errFrom := FromJSON(doc)
		if err != nil {
			// What upstream cannot read it cannot write either.
			assert.EqualError(t, errFrom, err.Error())
			return
		}
		require.NoError(t, errFrom)
		if bytes.Contains(want, []byte(`"\u003c\u003c":`)) || bytes.Contains(want, []byte("-0")) {
			return // written as a merge, and as the integer 0
		}
		again, strictErrs, err := ToJSON(got)
		require.NoError(t, err, "%s", got)
		assert.Empty(t, strictErrs)
		assert.Equal(t, string(want), string(again), "%s", got)
	})
}
