package yaml

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkEncode compares a tree with the result of ToJSON for its text.
func checkEncode(t *testing.T, tree any) {
	t.Helper()
	text := Encode(tree)
	got, duplicates, err := ToJSON(text)
	require.NoError(t, err, "%s", text)
	require.Empty(t, duplicates)
	want, err := json.Marshal(tree)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got), "%s", text)
	assert.Equal(t, text, Encode(tree))
}

func TestEncodeWritesWhatIsReadAsTheSame(t *testing.T) {
	long := strings.Repeat("k", 2000)
	for name, tree := range map[string]any{
		"a member named as a merge":  map[string]any{"<<": map[string]any{"a": int64(1)}, "a": int64(2), "merge0": "<<", "b": "merge1"},
		"a long key":                 map[string]any{long: "x", "y": map[string]any{long + " z": nil}},
		"characters":                 map[string]any{"a": "\U0001f600 \x00 \u0085 \ufeff x\x7f", "\u2028": "/\\"},
		"words":                      map[string]any{"y": "no", "1": "2", "": "", "a": " b", "c": "d\n\n e\n"},
		"numbers":                    []any{int64(-1 << 63), 1.5, 1e30, -0.25, true, nil, []any{}, map[string]any{}},
		"keys without a total order": map[string]any{"a10": nil, "a1b": nil, "a2": nil},
	} {
		t.Run(name, func(t *testing.T) { checkEncode(t, tree) })
	}
}

func FuzzEncode(f *testing.F) {
	for _, c := range outputCases() {
		f.Add([]byte(c.json))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var tree any
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		if d.Decode(&tree) != nil {
			return
		}
		if tree, ok := plain(tree); ok {
			checkEncode(t, tree)
		}
	})
}

// plain replaces the numbers of a tree by int64 and float64. It reports whether
// all of them can be.
func plain(v any) (_ any, ok bool) {
	ok = true
	part := func(v any) any {
		v, good := plain(v)
		ok = ok && good
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = part(value)
		}
	case []any:
		for i, item := range v {
			v[i] = part(item)
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, true
		}
		f, err := v.Float64()
		return f, err == nil
	}
	return v, ok
}
