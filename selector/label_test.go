package selector_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

func TestLabelsMatch(t *testing.T) {
	tests := []struct {
		in      string
		matches []map[string]string // selected
		misses  []map[string]string // not selected
	}{
		{"", []map[string]string{nil, {"a": "b"}}, nil},
		{" \t\r\n", []map[string]string{nil}, nil},
		{"k", []map[string]string{{"k": ""}}, []map[string]string{nil, {"o": "k"}}},
		{"! k", []map[string]string{nil, {"o": "k"}}, []map[string]string{{"k": ""}}},
		{"k = v", []map[string]string{{"k": "v"}}, []map[string]string{nil, {"k": "w"}}},
		{"k==v", []map[string]string{{"k": "v"}}, []map[string]string{nil, {"k": "w"}}},
		{"k!=v", []map[string]string{nil, {"k": "w"}}, []map[string]string{{"k": "v"}}},
		{"k=", []map[string]string{{"k": ""}}, []map[string]string{nil, {"k": "w"}}},
		{"k in(b,a,b)", []map[string]string{{"k": "a"}, {"k": "b"}}, []map[string]string{nil, {"k": "c"}, {"k": ""}}},
		{"k notin (a,b)", []map[string]string{nil, {"k": "c"}}, []map[string]string{{"k": "a"}, {"k": "b"}}},
		{"k in (a,b),k in (b,c)", []map[string]string{{"k": "b"}}, []map[string]string{nil, {"k": "a"}, {"k": "c"}, {"k": ""}}},
		{"k in ()", []map[string]string{{"k": ""}}, []map[string]string{nil, {"k": "a"}}},
		{"k in (,)", []map[string]string{{"k": ""}}, []map[string]string{nil, {"k": "a"}}},
		{"k in (2,,1)", []map[string]string{{"k": ""}, {"k": "1"}}, []map[string]string{nil, {"k": "3"}}},
		{"in in (in,notin),notin", []map[string]string{{"in": "in", "notin": ""}}, []map[string]string{{"in": "in"}}},
		{"k>5", []map[string]string{{"k": "6"}, {"k": "+7"}}, []map[string]string{nil, {"k": "5"}, {"k": "x"}, {"k": ""}, {"k": "9223372036854775808"}, {"k": "-9223372036854775809"}}},
		{"k<5", []map[string]string{{"k": "4"}, {"k": "-9223372036854775808"}, {"k": "0004"}}, []map[string]string{nil, {"k": "5"}, {"k": "-"}, {"k": "-9223372036854775809"}, {"k": "9999999999999999999"}}},
		{"b=1,a=2,b=1", []map[string]string{{"a": "2", "b": "1"}}, []map[string]string{{"a": "2"}, {"b": "1"}}},
		{"example.com/k=v", []map[string]string{{"example.com/k": "v"}}, []map[string]string{{"k": "v"}}},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			labels, err := selector.ParseLabels(test.in)
			require.NoError(t, err)
			assert.Equal(t, strings.TrimSpace(test.in) == "", labels.Empty())
			for _, object := range test.matches {
				assert.True(t, labels.Matches(object), "%v is not selected", object)
			}
			for _, object := range test.misses {
				assert.False(t, labels.Matches(object), "%v is selected", object)
			}
		})
	}
}

func TestMatchingAllocatesNothing(t *testing.T) {
	labels, err := selector.ParseLabels("a in (x,y,z),b!=1,n>5,!gone")
	require.NoError(t, err)
	fields, err := selector.ParseFields(`metadata.name=a,metadata.namespace!=b`)
	require.NoError(t, err)
	shards, _, err := selector.ParseShards("shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')")
	require.NoError(t, err)
	object := map[string]string{"a": "y", "n": "no number"}
	get := func(field string) string { return field }
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		labels.Matches(object)
		fields.Matches(get)
		fields.Exact("metadata.name")
		shards.Matches("8f6b9a0e-0c3f-4c7a-9b53-0d4f6a9b1f11", "default")
	}))
}
