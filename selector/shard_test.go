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
