package yaml

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFromJSONWritesWhatUpstreamWrites(t *testing.T) {
	for _, c := range outputCases() {
		t.Run(c.name, func(t *testing.T) {
			got, err := FromJSON([]byte(c.json))
			require.NoError(t, err)
			assert.Equal(t, c.yaml, string(got))
		})
	}
}

func TestFromJSONRefusesWhatIsNotYAML(t *testing.T) {
	for _, c := range []struct{ name, json, err string }{
		{"an escaped slash", `"\/"`, "yaml: found unknown escape character"},
		{"a surrogate pair", `"\ud83d\ude00"`, "yaml: found invalid Unicode character escape code"},
		{"a long key", `{"` + strings.Repeat("k", 1030) + `":1}`, "yaml: did not find expected ',' or '}'"},
		{"a delete character", "\"\x7f\"", "yaml: control characters are not allowed"},
		{"no JSON at all", `{"a"`, "yaml: line 1: did not find expected ',' or '}'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := FromJSON([]byte(c.json))
			assert.EqualError(t, err, c.err)
		})
	}
}
