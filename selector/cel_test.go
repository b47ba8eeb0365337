package selector_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

// Syntax errors name the token that is wrong and its place, counted in characters.
func TestShardSyntaxErrorsNameTheirPlace(t *testing.T) {
	tests := []struct{ in, want string }{
		{"foo bar", `"bar" at character 5`},
		{"a, b", `"," at character 2`},
		{"(a))", `")" at character 4`},
		{`'é' 'y\n'`, `"'y\\n'" at character 5`},
		{"  a\n  // b\n  c", `"c" at character 12`},
		{"0x", `"x" at character 2`},
		{"1e", `"e" at character 2`},
		{"a.1", `".1" at character 2`},

		{"shardRange(", "end at character 12"},
		{"shardRange(a", "end at character 13"},
		{"shardRange(a,", "end at character 14"},
		{"shardRange(a,)", `")" at character 14`},
		{"shardRange(a b)", `"b" at character 14`},
		{"shardRange(object.metadata.uid, '0x0000000000000000' '0x8')", `"'0x8'" at character 54`},
		{"(", "end at character 2"},
		{"a ||", "end at character 5"},
		{"|| a", `"||" at character 1`},
		{"!", "end at character 2"},
		{"[a", "end at character 3"},
		{"[,,]", `"," at character 2`},
		{"a.", "end at character 3"},
		{"..a", `"." at character 2`},
		{"--!a", `"!" at character 3`},

		{"#", `"#" at character 1`},
		{"\xff", "\"\uFFFD\" at character 1"},
		{"\xff\xfe 'a' b", "\"\uFFFD\" at character 1"},
		{"a | b", `"|" at character 3`},
		{"'abc", `"'" at character 1`},
		{"'a\nb'", `"'" at character 1`},
		{`"""abc`, `"\"" at character 3`},
		{`'\q'`, `"'\\q'" at character 1`},
		{`'\ud800'`, `"'\\ud800'" at character 1`},
		{"a.`b", "\"`\" at character 3"},

		// CEL that no shard selector may contain.
		{"a == b", `"=" at character 3`},
		{"a + b", `"+" at character 3`},
		{"a ? b : c", `"?" at character 3`},
		{"a[b]", `"[" at character 2`},
		{"{a: b}", `"{" at character 1`},
		{"a{b: c}", `"{" at character 2`},
		{"f().a", `"." at character 4`},
		{"(a).f()", `"." at character 4`},
		{"b'x'", `"'x'" at character 2`},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			_, _, err := selector.ParseShards(test.in)
			assert.EqualError(t, err, "invalid shard selector: CEL parse error: unexpected "+test.want)
		})
	}
}

func TestHostileShardsNeitherRecurseDeepNorTakeLong(t *testing.T) {
	const deep = "invalid shard selector: CEL parse error: expression recursion limit exceeded: 250"
	tests := []struct{ name, in, want string }{
		{"parentheses within the limit", strings.Repeat("(", 248) + lower + strings.Repeat(")", 248), ""},
		{"parentheses", strings.Repeat("(", 249) + lower + strings.Repeat(")", 249), deep},
		{"only parentheses", strings.Repeat("(", 99_999), deep},
		{"lists", strings.Repeat("[", 99_999), deep},
		{"calls", strings.Repeat("a(", 49_000), deep},
		{"too long", strings.Repeat("é", 100_001), "invalid shard selector: CEL parse error: expression code point size exceeds limit: size: 100001, limit 100000"},
		{"negations", strings.Repeat("!", 99_998) + "a", "invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator"},
		{"conjunctions", "a" + strings.Repeat("&&b", 33_000), `invalid shard selector: unsupported function "_&&_"; only shardRange() and || are allowed`},
		{"names", "a" + strings.Repeat(".b", 49_999), "invalid shard selector: unexpected expression kind 7; expected shardRange() call or || operator"},
		{"blanks", "a" + strings.Repeat(" ", 99_998) + "b", `invalid shard selector: CEL parse error: unexpected "b" at character 100000`},
		{"quotes", strings.Repeat("['' '", 19_999), `invalid shard selector: CEL parse error: unexpected "'['" at character 5`},
		{"many ranges", lower + strings.Repeat("||"+upper, 1200), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := selector.ParseShards(test.in)
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, test.want)
			}
		})
	}
}
