package selector_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

// The texts of syntax errors are those of cel-go 0.29.2, which the server of version 1.37 reads shard selectors with.
func TestShardsThatAreNotCEL(t *testing.T) {
	const start = "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
	tests := []struct{ in, want string }{
		{"foo bar", "Syntax error: extraneous input 'bar' expecting <EOF>"},
		{"a b c", "Syntax error: mismatched input 'b' expecting <EOF>"},
		{"a, b", "Syntax error: mismatched input ',' expecting <EOF>"},
		{"(a))", "Syntax error: extraneous input ')' expecting <EOF>"},
		{"'x' 'y\\n'", "Syntax error: extraneous input ''y\\n'' expecting <EOF>"},
		{"0x", "Syntax error: extraneous input 'x' expecting <EOF>"},
		{"a.1", "Syntax error: extraneous input '.1' expecting <EOF>"},
		{"(a).b{}", "Syntax error: mismatched input '{' expecting <EOF>"},

		{"shardRange(", "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		{"shardRange(a", "Syntax error: missing ')' at '<EOF>'"},
		{"shardRange(a,", "Syntax error: mismatched input '<EOF>' expecting {" + start},
		{"shardRange(a b)", "Syntax error: extraneous input 'b' expecting ')'"},
		{"shardRange(object.metadata.uid, '0x0000000000000000' '0x8')", "Syntax error: extraneous input ''0x8'' expecting ')'"},
		{"(", "Syntax error: mismatched input '<EOF>' expecting {" + start},
		{"(a", "Syntax error: missing ')' at '<EOF>'"},
		{"in", "Syntax error: mismatched input 'in' expecting {" + start},
		{"a ||", "Syntax error: mismatched input '<EOF>' expecting {" + start},
		{"|| a", "Syntax error: extraneous input '||' expecting {" + start},
		{"!", "Syntax error: extraneous input '<EOF>' expecting {" + start},
		{"[a", "Syntax error: mismatched input '<EOF>' expecting {']', ','}"},
		{"[a,", "Syntax error: missing ']' at '<EOF>'"},
		{"{a", "Syntax error: mismatched input '<EOF>' expecting ':'"},
		{"a{", "Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"},
		{"a[b", "Syntax error: missing ']' at '<EOF>'"},
		{"a ? b", "Syntax error: mismatched input '<EOF>' expecting ':'"},
		{"a ? b c", "Syntax error: missing ':' at 'c'"},

		{"a.", "Syntax error: no viable alternative at input '.'"},
		{"..a", "Syntax error: no viable alternative at input '..'"},
		{"a.in", "Syntax error: no viable alternative at input '.in'"},
		{"a.\ntrue", "Syntax error: no viable alternative at input '.\\ntrue'"},
		{"a.true", "Syntax error: mismatched input 'true' expecting IDENTIFIER"},
		{"--!a", "Syntax error: no viable alternative at input '-!'"},

		{"#", "Syntax error: token recognition error at: '#'"},
		{"é", "Syntax error: token recognition error at: 'é'"},
		{"\xff", "Syntax error: token recognition error at: '\uFFFD'"},
		{"a b #", "Syntax error: token recognition error at: '#'"},
		{"a | b", "Syntax error: token recognition error at: '| '"},
		{"a =", "Syntax error: token recognition error at: '='"},
		{"'abc", "Syntax error: token recognition error at: ''abc'"},
		{`"""abc`, `Syntax error: token recognition error at: '"abc'`},
		{`'\q'`, `Syntax error: token recognition error at: ''\q'`},
		{`'\x'`, `Syntax error: token recognition error at: ''\x''`},
		{"a.`b", "Syntax error: token recognition error at: '`b'"},

		{"namespace", "reserved identifier: namespace"},
		{"as(b) || while", "reserved identifier: as"},
		{"a.?b", "unsupported syntax '.?'"},
		{"a[?b]", "unsupported syntax '[?'"},
		{"[?a]", "unsupported syntax '?'"},
		{"99999999999999999999", "invalid int literal"},
		{"99999999999999999999u", "invalid uint literal"},
		{"1e999", "invalid double literal"},
		{`'\ud800'`, "invalid unicode code point"},
		{`'\UFFFFFFFF'`, "invalid unicode code point"},
		{`b'\u0041'`, "unable to unescape string"},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			_, _, err := selector.ParseShards(test.in)
			assert.EqualError(t, err, "invalid shard selector: CEL parse error: "+test.want)
		})
	}
}

func TestHostileShardsNeitherRecurseDeepNorTakeLong(t *testing.T) {
	const deep = "invalid shard selector: CEL parse error: expression recursion limit exceeded: 250"
	tests := []struct{ name, in, want string }{
		{"parentheses within the limit", strings.Repeat("(", 248) + lower + strings.Repeat(")", 248), ""},
		{"parentheses", strings.Repeat("(", 249) + lower + strings.Repeat(")", 249), deep},
		{"nothing but parentheses", strings.Repeat("(", 99_999), deep},
		{"lists", strings.Repeat("[", 99_999), deep},
		{"maps", strings.Repeat("{a:", 33_000), deep},
		{"calls", strings.Repeat("a(", 49_000), deep},
		{"conditions", "a" + strings.Repeat("?b:c", 24_000), deep},
		{"too long", strings.Repeat("é", 100_001), "invalid shard selector: CEL parse error: expression code point size exceeds limit: size: 100001, limit 100000"},
		{"negations", strings.Repeat("!", 99_998) + "a", "invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator"},
		{"sums", "a" + strings.Repeat("+b", 49_000), `invalid shard selector: unsupported function "_+_"; only shardRange() and || are allowed`},
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
