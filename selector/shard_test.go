package selector_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

const (
	lower = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
	upper = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
)

func TestParseShardsRefusesWithTheTextOfTheServer(t *testing.T) {
	uid := func(start, end string) string { return "shardRange(object.metadata.uid, " + start + ", " + end + ")" }
	const zero, half = "'0x0000000000000000'", "'0x8000000000000000'"
	tests := []struct{ in, want string }{
		{" ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"},

		{"foo", "unexpected expression kind 3; expected shardRange() call or || operator"},
		{"[1]", "unexpected expression kind 4; expected shardRange() call or || operator"},
		{"'x'", "unexpected expression kind 5; expected shardRange() call or || operator"},
		{"object.metadata.uid", "unexpected expression kind 7; expected shardRange() call or || operator"},
		{lower + " || foo", "unexpected expression kind 3; expected shardRange() call or || operator"},

		{"other(object)", `unsupported function "other"; only shardRange() and || are allowed`},
		{lower + " && " + upper, `unsupported function "_&&_"; only shardRange() and || are allowed`},
		{"!" + lower, `unsupported function "!_"; only shardRange() and || are allowed`},
		{"-x", `unsupported function "-_"; only shardRange() and || are allowed`},

		{"shardRange()", "shardRange() requires exactly 3 arguments, got 0"},
		{"shardRange(object.metadata.uid, '0x0')", "shardRange() requires exactly 3 arguments, got 2"},
		{"shardRange([a, 'b', 1], 1, 2)", "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 4"},
		{"shardRange(f(), 1, 2)", "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1"},
		{"shardRange(a || b, 1, 2)", "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1"},
		{"shardRange('x', 1, 2)", "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5"},
		{"shardRange(object.metadata.name, " + zero + ", " + half + ")", `unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace`},
		{"shardRange(uid, " + zero + ", " + half + ")", `unsupported field path "uid"; supported: object.metadata.uid, object.metadata.namespace`},
		{"shardRange(.object.metadata.uid, " + zero + ", " + half + ")", `unsupported field path ".object.metadata.uid"; supported: object.metadata.uid, object.metadata.namespace`},

		{uid("x", half), "hexStart must be a string literal (e.g. '0xff'), got expression kind 3"},
		{uid("0", "1"), "hexStart must be a string literal, got int64"},
		{uid("-1", "1"), "hexStart must be a string literal, got int64"},
		{uid("1u", "1"), "hexStart must be a string literal, got uint64"},
		{uid("1.5", "1"), "hexStart must be a string literal, got float64"},
		{uid("true", "1"), "hexStart must be a string literal, got bool"},
		{uid("null", "1"), "hexStart must be a string literal, got structpb.NullValue"},
		{uid(zero, "1"), "hexEnd must be a string literal, got int64"},
		{uid("'0000000000000000'", half), `hexStart must have '0x' prefix, got "0000000000000000"`},
		{uid("''''''", half), `hexStart must have '0x' prefix, got ""`},
		{uid(`r'\x30x0'`, half), `hexStart must have '0x' prefix, got "\\x30x0"`},
		{uid("'0x'", half), "hexStart: hex value is required after '0x'"},
		{uid("'0x000000000000000000'", half), `hexStart: hex value too long (18 chars, max 17): "000000000000000000"`},
		{uid("'0xA000000000000000'", half), `hexStart: invalid hex character "A" in "0xA000000000000000"`},
		{uid("'0x0é'", half), `hexStart: invalid hex character "é" in "0x0é"`},
		{uid("'0x00000000000000000'", half), `hexStart: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x00000000000000000"`},
		{uid(zero, "'0x20000000000000000'"), `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x20000000000000000"`},
		{uid(half, zero), "shard range start 0x8000000000000000 must be less than end 0x0000000000000000"},
		{uid(half, half), "shard range start 0x8000000000000000 must be less than end 0x8000000000000000"},
		{uid("'0x10000000000000000'", half), "shard range start 0x10000000000000000 must be less than end 0x8000000000000000"},
		{uid("'0x8'", "'0x4'"), "shard range start 0x0000000000000008 must be less than end 0x0000000000000004"},

		{lower + " || shardRange(object.metadata.namespace, " + zero + ", " + half + ")", `all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"`},
		{lower + " || shardRange(object.metadata.namespace, " + zero + ", " + half + ") || foo()", `unsupported function "foo"; only shardRange() and || are allowed`},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			got, warnings, err := selector.ParseShards(test.in)
			assert.EqualError(t, err, "invalid shard selector: "+test.want)
			assert.True(t, got.Empty())
			assert.Nil(t, warnings)
		})
	}
}

func TestShortBoundsAreFilledUpWithAWarning(t *testing.T) {
	shards, warnings, err := selector.ParseShards("shardRange(object.metadata.uid, '0x0', '0x8000') || shardRange(object.metadata.uid, '0x8000', '0x10000000000000000')")
	require.NoError(t, err)
	assert.Equal(t, "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000008000') || shardRange(object.metadata.uid, '0x0000000000008000', '0x10000000000000000')", shards.String())
	assert.Equal(t, []string{
		"shardSelector: Kubernetes 1.37 refuses the bound '0x0', write '0x0000000000000000'",
		"shardSelector: Kubernetes 1.37 refuses the bound '0x8000', write '0x0000000000008000'",
	}, warnings)

	var ranges []string
	for _, digit := range "123456789abcdef" {
		ranges = append(ranges, "shardRange(object.metadata.uid, '0x"+string(digit)+"', '0x8000000000000000')")
	}
	_, warnings, err = selector.ParseShards(strings.Join(ranges, " || "))
	require.NoError(t, err)
	assert.Len(t, warnings, 8)
}

func TestShardsMatchTheHashOfOneField(t *testing.T) {
	hashes := map[string]string{ // FNV-1a, 64 bits
		"":            "cbf29ce484222325",
		"abc":         "e71fa2190541574b",
		"default":     "ebada5168620c5fe",
		"kube-system": "df65c7bc1d82b35e",
	}
	for value, hash := range hashes {
		t.Run(value, func(t *testing.T) {
			parse := func(field, start, end string) selector.Shards {
				shards, _, err := selector.ParseShards("shardRange(object.metadata." + field + ", '0x" + start + "', '0x" + end + "')")
				require.NoError(t, err)
				return shards
			}
			assert.True(t, parse("uid", hash, "10000000000000000").Matches(value, "other"), "the range includes its start")
			assert.False(t, parse("uid", "0000000000000000", hash).Matches(value, "other"), "the range excludes its end")
			assert.True(t, parse("namespace", hash, "10000000000000000").Matches("other", value))
			assert.False(t, parse("namespace", "0000000000000000", hash).Matches("other", value))
		})
	}

	all, _, err := selector.ParseShards(lower + " || " + upper)
	require.NoError(t, err)
	low, _, err := selector.ParseShards(lower)
	require.NoError(t, err)
	high, _, err := selector.ParseShards(upper)
	require.NoError(t, err)
	for _, uid := range []string{"", "a", "b", "c", "8f6b9a0e-0c3f-4c7a-9b53-0d4f6a9b1f11"} {
		assert.True(t, all.Matches(uid, ""))
		assert.NotEqual(t, low.Matches(uid, ""), high.Matches(uid, ""))
		assert.True(t, selector.Shards{}.Matches(uid, ""))
	}
}
