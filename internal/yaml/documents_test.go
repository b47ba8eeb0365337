package yaml

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// walk returns each document as "line: JSON", and the error last.
func walk(doc string) (out []string) {
	for d, err := range Documents([]byte(doc)) {
		if err != nil {
			return append(out, err.Error())
		}
		text := fmt.Sprintf("%d: %s", d.Line, d.JSON)
		for _, dup := range d.Duplicates {
			text += " " + dup.Error()
		}
		out = append(out, text)
	}
	return out
}

func TestDocumentsOfAStream(t *testing.T) {
	for name, row := range map[string]struct {
		stream string
		want   []string
	}{
		"nothing":                           {"", nil},
		"comments":                          {"# a\n# b\n", nil},
		"one":                               {"a: 1\n", []string{`1: {"a":1}`}},
		"several":                           {"# x\na: 1\n---\n# y\n\nb: 2\n--- {c: 3}\n--- # z\nd: 4", []string{`2: {"a":1}`, `6: {"b":2}`, `7: {"c":3}`, `9: {"d":4}`}},
		"none between marks":                {"---\n---\na: 1\n---\n", []string{`2: null`, `3: {"a":1}`, `5: null`}},
		"marks of the end":                  {"...\na: 1\n...\n...\n---\nb: 2\n...\n", []string{`2: {"a":1}`, `6: {"b":2}`}},
		"directives are of one document":    {"%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 1\n...\n%YAML 1.1\n---\nb: !e!str 1\n", []string{`3: {"a":"1"}`, "yaml: line 6: found undefined tag handle"}},
		"anchors are of one document":       {"a: &x 1\nb: *x\n---\nc: *x\n", []string{`1: {"a":1,"b":1}`, "yaml: unknown anchor 'x' referenced"}},
		"a mark inside of a block scalar":   {"a: |\n  x\n  ---\n  y\n---\nb: 1\n", []string{`1: {"a":"x\n---\ny\n"}`, `6: {"b":1}`}},
		"a mark inside of quotes":           {"a: 'x\n---\n'\n", []string{"yaml: line 2: found unexpected document indicator"}},
		"duplicates have their lines":       {"a: 1\n---\nb: 1\nb: 2\n", []string{`1: {"a":1}`, `3: {"b":2} line 4: key "b" already set in map`}},
		"content after the end":             {"a: 1\n...\nb: 2\n", []string{`1: {"a":1}`, "yaml: line 2: did not find expected <document start>"}},
		"content after a closed collection": {"{a: 1}\nb\n", []string{`1: {"a":1}`, "yaml: line 1: did not find expected <document start>"}},
		"a mistake ends it":                 {"a: 1\n---\nb: [\n---\nc: 1\n", []string{`1: {"a":1}`, "yaml: line 3: did not find expected node content"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, walk(row.stream))
		})
	}
}

// The first document is the one that ToJSON reads.
func TestFirstDocumentIsTheOneOfToJSON(t *testing.T) {
	for _, c := range documentCases() {
		for d, err := range Documents([]byte(c.yaml)) {
			require.NoError(t, err, c.name)
			assert.Equal(t, c.json, string(d.JSON), c.name)
			break
		}
	}
	for _, c := range errorCases() {
		_, _, want := ToJSON([]byte(c.yaml))
		for _, err := range Documents([]byte(c.yaml)) {
			assert.Equal(t, want, err, c.name)
			break
		}
	}
}

func TestLinesOfItems(t *testing.T) {
	const list = "kind: List\nitems:\n- a: 1\n  b: 2\n# c\n- c: 3\n-\n  d: 4\n"
	for d, err := range Documents([]byte(list)) {
		require.NoError(t, err)
		assert.Equal(t, []int{3, 6, 8}, d.ItemLines("items"))
		assert.Empty(t, d.ItemLines("kind"))
	}
	for d, err := range Documents([]byte("[items, [a]]")) {
		require.NoError(t, err)
		assert.Empty(t, d.ItemLines("items"))
	}
}

func TestEncodeWritesWhatUpstreamCannot(t *testing.T) {
	long := strings.Repeat("k", 2000)
	for name, v := range map[string]any{
		"a merge that is none": map[string]any{"<<": map[string]any{"a": int64(1)}, "a": int64(2)},
		"a long key":           map[string]any{long: "x", "y": map[string]any{long + " z": nil}},
		"characters":           map[string]any{"a": "\U0001f600 \x00 \u0085 \ufeff x", "\u2028": "/\\"},
		"words":                map[string]any{"y": "no", "1": "2", "": "", "a": " b", "c": "d\n\n e\n"},
		"numbers":              []any{int64(-1 << 63), 1.5, 1e30, -0.25, true, nil, []any{}, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			text := Encode(v)
			got, duplicates, err := ToJSON(text)
			require.NoError(t, err, "%s", text)
			require.Empty(t, duplicates)
			want, err := json.Marshal(v)
			require.NoError(t, err)
			assert.JSONEq(t, string(want), string(got), "%s", text)
		})
	}
}

func TestEncodeIsFromJSONForTheRest(t *testing.T) {
	for _, c := range outputCases() {
		var v any
		if json.Unmarshal([]byte(c.json), &v) != nil || strings.Contains(c.json, `"<<"`) {
			continue
		}
		if _, ok := v.(map[string]any); !ok {
			continue
		}
		want, err := FromJSON([]byte(c.json))
		if err != nil {
			continue
		}
		again, _, err := ToJSON(want)
		require.NoError(t, err)
		var tree any
		require.NoError(t, json.Unmarshal(again, &tree))
		want, err = FromJSON(again) // the order of some keys depends on that before
		require.NoError(t, err)
		assert.Equal(t, string(want), string(Encode(wholeNumbers(tree))), c.name)
	}
}

// wholeNumbers makes integers of the floats that are.
func wholeNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = wholeNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

func FuzzDocuments(f *testing.F) {
	for _, c := range documentCases() {
		f.Add([]byte(c.yaml + "\n---\n" + c.yaml))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for d, err := range Documents(stream) {
			if err != nil {
				assert.NotEmpty(t, err.Error())
				return
			}
			require.True(t, json.Valid(d.JSON), "%q", d.JSON)
			require.Positive(t, d.Line)
			d.ItemLines("items")
		}
	})
}
