package codec

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every version of Go gives the texts of Go 1.26.
func TestSyntaxErrorsHaveTheTextsOfARealServer(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "unexpected end of JSON input",
		"\xff":                     "invalid character 'ÿ' looking for beginning of value",
		"\ufeff{}":                 "invalid character 'ï' looking for beginning of value",
		"{日":                       "invalid character 'æ' looking for beginning of object key string",
		`{"kind":"\x"}`:            "invalid character 'x' in string escape code",
		"{\"kind\":\"\n":           `invalid character '\n' in string literal`,
		`{"a":1.}`:                 "invalid character '}' after decimal point in numeric literal",
		`{"a":1e}`:                 "invalid character '}' in exponent of numeric literal",
		"nul":                      "invalid character ' ' in literal null (expecting 'l')",
		strings.Repeat("[", 10001): "invalid character '[' exceeded max depth",
		`{"kind":5}`:               "json: cannot unmarshal number into Go struct field .kind of type string",
	} {
		var into struct {
			Kind string `json:"kind"`
		}
		assert.EqualError(t, Unmarshal([]byte(text), &into), want, "%.20q", text)
	}
}

func TestUnmarshalIgnoresCase(t *testing.T) {
	var into struct {
		Kind string `json:"kind"`
	}
	require.NoError(t, Unmarshal([]byte(`{"KIND":"a"}`), &into))
	assert.Equal(t, "a", into.Kind)
}

func TestAppendStringEscapesBytesThatAreNoText(t *testing.T) {
	assert.Equal(t, `x"\ufffdb\ufffd`+"\ufffd"+`\u003c"`, string(AppendString([]byte("x"), "\xffb\xfe\ufffd<")))
	for _, s := range []string{"", "a\"b", "日本\u2028", "\x00\x1f\x7f\b\f\n\r\t\\/&>"} {
		want, err := json.Marshal(s)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(AppendString(nil, s)))
	}
}
