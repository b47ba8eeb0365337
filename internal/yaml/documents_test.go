package yaml

import (
	"encoding/json"
	"fmt"
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
		"marks of the end":                  {"a: 1\n...\n...\n---\nb: 2\n...\n", []string{`1: {"a":1}`, `5: {"b":2}`}},
		"directives are of one document":    {"%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 1\n...\n%YAML 1.1\n---\nb: !e!str 1\n", []string{`3: {"a":"1"}`, "yaml: line 6: found undefined tag handle"}},
		"anchors are of one document":       {"a: &x 1\nb: *x\n---\nc: *x\n", []string{`1: {"a":1,"b":1}`, "yaml: unknown anchor 'x' referenced"}},
		"a mark inside of a block scalar":   {"a: |\n  x\n  ---\n  y\n---\nb: 1\n", []string{`1: {"a":"x\n---\ny\n"}`, `6: {"b":1}`}},
		"a mark inside of quotes":           {"a: 'x\n---\n'\n", []string{"yaml: line 2: found unexpected document indicator"}},
		"duplicates have their lines":       {"a: 1\n---\nb: 1\nb: 2\n", []string{`1: {"a":1}`, `3: {"b":1} line 4: key "b" already set in map`}},
		"content after the end":             {"a: 1\n...\nb: 2\n", []string{`1: {"a":1}`, "yaml: line 2: did not find expected <document start>"}},
		"content after a closed collection": {"{a: 1}\nb\n", []string{`1: {"a":1}`, "yaml: line 1: did not find expected <document start>"}},
		"a mistake ends it":                 {"a: 1\n---\nb: [\n---\nc: 1\n", []string{`1: {"a":1}`, "yaml: line 3: did not find expected node content"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, walk(row.stream))
		})
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

func TestDocumentBeforeAMistakeMayBeLost(t *testing.T) {
	assert.Equal(t, []string{"yaml: line 3: found character that cannot start any token"}, walk("a: 1\n---\n@\n"))
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
