package registry

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What appendPlain writes is the JSON of encoding/json, and readPlain reads it.
func TestPlainTokens(t *testing.T) {
	for start, plain := range map[string]bool{
		"/ns/a\x00": true, "ns/a\x00": true, "/a": true, "": true, "\x00": true, "/ns/system:x~ y\x00": true,
		"/a\x00b": false, "/a\x00\x00": false, `/a"`: false, `/a\`: false, `/a\u0000`: false, "/<": false, "/>": false, "/&": false,
		"/é\x00": false, "/\xff": false, "/\x7f": false, "/\x1f": false,
	} {
		for _, version := range []int64{0, 1, -1, 1003, math.MaxInt64, math.MinInt64} {
			token := continueToken{continueVersion, version, start}
			text, ok := token.appendPlain([]byte("x"))
			require.Equal(t, plain, ok, "%q", start)
			if !plain {
				assert.Equal(t, "x", string(text))
				continue
			}
			want, err := json.Marshal(token)
			require.NoError(t, err)
			assert.Equal(t, "x"+string(want), string(text))
			var got continueToken
			assert.True(t, got.readPlain(string(want)))
			assert.Equal(t, token, got)
		}
	}
}

// readPlain reads a text as encoding/json does, or leaves it.
func FuzzPlainToken(f *testing.F) {
	const whole = `{"v":"meta.k8s.io/v1","rv":1003,"start":"/ns/a\u0000"}`
	f.Add(whole)
	for _, change := range [][2]string{
		{"1003", "01"}, {"1003", "+1"}, {"1003", "-0"}, {"1003", "1e3"}, {"1003", "9223372036854775808"}, {"1003", " 1"}, {"1003", ""},
		{`\u0000`, `\u0000\u0000`}, {`\u0000`, `\\u0000`}, {`\u0000`, "\x00"}, {"/ns", `","start":"/ns`}, {"/ns", "\xff"}, {"}", "} "}, {"{", " {"},
		{`"v"`, `"V"`}, {"v1", "v2"}, {`"start"`, `"start" `}, {`"start":"`, `"start":"","rv":1,"start":"`},
	} {
		f.Add(strings.Replace(whole, change[0], change[1], 1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want continueToken
		if got.readPlain(text) {
			require.NoError(t, json.Unmarshal([]byte(text), &want))
			assert.Equal(t, want, got)
		} else {
			assert.Zero(t, got)
		}
	})
}
