package codec

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlainJSONIsAnObjectOfObjects(t *testing.T) {
	for text, plain := range map[string]bool{
		`{}`: true, `{"f:a":{}}`: true, `{"f:a":{".":{},"f:b":{"f:c":{}}},"f:d":{}}`: true, `{"k:{\"a\":\"\u0001\"}":{}}`: true,
		``: false, `{`: false, `}`: false, `{}}`: false, `{}{}`: false, `{},`: false, `{"a"}`: false, `{"a":{}`: false, `{"a":{},}`: false,
		`{"a":}`: false, `{"a":{}}}`: false, `{"a`: false, `{"a\`: false, `{"a\x":{}}`: false, `{"a":{}"b":{}}`: false, `{,"a":{}}`: false, `{"a",{}}`: false,
		`{ }`: false, `{"a":1}`: false, `{"a":[]}`: false, `[]`: false, `{"<":{}}`: false, `{"\u2028ä":{}}`: false, "{\"\n\":{}}": false,
		strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100):  false,
		strings.Repeat(`{"a":`, 99) + "{}" + strings.Repeat("}", 99):   true,
		strings.Repeat(`{"a":`, 100) + "{}" + strings.Repeat("}", 100): false,
	} {
		assert.Equal(t, plain, isPlainJSON([]byte(text)), text)
		if plain {
			assertUnchanged(t, text)
		}
	}
}

// assertUnchanged checks that encoding does not change a text.
func assertUnchanged(t *testing.T, text string) {
	t.Helper()
	encoded, err := json.Marshal(json.RawMessage(text))
	assert.NoError(t, err)
	assert.Equal(t, text, string(encoded))
}

// What is plain is what encoding/json would not change.
func FuzzPlainJSON(f *testing.F) {
	f.Add([]byte(`{"f:a":{".":{},"k:{\"b\":\"c\"}":{}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if isPlainJSON(raw) {
			encoded, err := json.Marshal(json.RawMessage(raw))
			if err != nil || !bytes.Equal(raw, encoded) {
				t.Errorf("%q is plain, and encodes as %q (%v)", raw, encoded, err)
			}
		}
	})
}
