package codec

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScannerFindsTheValuesOfAText(t *testing.T) {
	const text = ` [ "a\\\"]" , -1.5e3,{"b":[1,{"}":null}]} ,true,[ ],"" ] `
	var want []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &want))
	s := Scanner{Text: []byte(text)}
	require.Equal(t, byte('['), s.Next())
	var got []json.RawMessage
	for s.At++; s.Next() != ']'; {
		got = append(got, s.Value())
	}
	assert.Equal(t, want, got)
	alone := Scanner{Text: []byte("12")}
	assert.Equal(t, "12", string(alone.Value()), "the end of the text ends a value too")
}
