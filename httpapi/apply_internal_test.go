package httpapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// sameAsYAML reads a configuration as plain JSON and as YAML, and compares the results. It
// returns whether the configuration is plain JSON.
func sameAsYAML(t testing.TB, data []byte) bool {
	t.Helper()
	got, ok := codec.PlainTree(data)
	if !ok {
		return false
	}
	want, duplicates, err := decodeApplyYAML(data)
	require.NoError(t, err, "%q", data)
	require.Empty(t, duplicates, "%q", data)
	require.Equal(t, want, got, "%q", data)
	return true
}

var applied = []struct {
	text  string
	plain bool
}{
	{`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","labels":{"y":"no","1":"2"},"finalizers":[]},"spec":{"holderIdentity":"~","leaseDurationSeconds":15,"renewTime":"2024-01-02T03:04:05.123456Z"}}`, true},
	{"{\n  \"a\": {\n    \"b\": [ 1, -2, null, true, false, {} ]\n  }\n}\n", true},
	{`{"a":"\u003c\u00e9\n\t\"\\","b":0,"c":123456789012345678}`, true}, {` {"a" : 1}`, false}, {`{"a" :1}`, false}, {`{"a":"` + "é" + `"}`, false}, {`{"a":"` + "\x7f" + `"}`, false},
	{`{"<<":{"a":1}}`, false}, {`{"a":1,"a":2}`, false}, {`{"a":1.0}`, false}, {`{"a":1e3}`, false}, {`{"a":12345678901234567890}`, false}, {"{\"a\":\t1}", false}, {"{\t}", false}, {"{\r\n}", false},
	{`a: 1`, false}, {`{a: 1}`, false}, {`[]`, false}, {``, false}, {`{"a":1} # x`, false}, {`{"a":1,}`, false}, {`{"a":'x'}`, false}, {`{"a":"\ud83d\ude00"}`, false}, {`{"a":01}`, false},
	{`{"a":"\\/"}`, true}, {`{"a":"\/"}`, false}, {`{"\/":1}`, false},
}

func TestPlainJSONIsReadAsYAMLIs(t *testing.T) {
	for _, a := range applied {
		assert.Equal(t, a.plain, sameAsYAML(t, []byte(a.text)), a.text)
	}
}

// FuzzPlainJSON compares reading a configuration as plain JSON and as YAML.
func FuzzPlainJSON(f *testing.F) {
	for _, a := range applied {
		f.Add([]byte(a.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameAsYAML(t, data) })
}
