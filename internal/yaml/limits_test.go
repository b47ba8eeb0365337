package yaml

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const tooManyAliases = "yaml: document contains excessive aliasing"

func TestBillionLaughsAreRefused(t *testing.T) {
	doc := "a0: &a0 [lol]\n"
	for i := 1; i < 12; i++ {
		doc += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10))
	}
	_, _, err := ToJSON([]byte(doc))
	assert.EqualError(t, err, tooManyAliases)
}

func TestRepeatedMergesAreRefused(t *testing.T) {
	doc := "a: &a {" + strings.Repeat("x: 1, ", 1000) + "}\nb:\n" + strings.Repeat("  <<: *a\n", 1000)
	_, _, err := ToJSON([]byte(doc))
	assert.EqualError(t, err, tooManyAliases)
}

func TestRepeatedLongTextIsRefused(t *testing.T) {
	doc := func(size, times int) []byte {
		return []byte("- &a " + strings.Repeat("x", size) + "\n- [" + strings.Repeat("*a,", times) + "]")
	}
	_, _, err := ToJSON(doc(1<<20, 17)) // 17 MiB
	require.EqualError(t, err, tooManyAliases)

	got, _, err := ToJSON(doc(1<<20, 16))
	require.NoError(t, err)
	assert.Greater(t, len(got), 17<<20)
}

func TestSomeAliasesAreFine(t *testing.T) {
	doc := "a: &a [1, 2, 3]\nb: [" + strings.Repeat("*a, ", 10_000) + "]\n"
	got, _, err := ToJSON([]byte(doc))
	require.NoError(t, err)
	assert.Equal(t, 10_001, strings.Count(string(got), "[1,2,3]"))
}

func TestAliasRatioFallsWithSize(t *testing.T) {
	assert.InDelta(t, 0.99, allowedAliasRatio(1), 1e-9)
	assert.InDelta(t, 0.99, allowedAliasRatio(400_000), 1e-9)
	assert.InDelta(t, 0.545, allowedAliasRatio(2_200_000), 1e-9)
	assert.InDelta(t, 0.10, allowedAliasRatio(4_000_000), 1e-9)
	assert.InDelta(t, 0.10, allowedAliasRatio(1<<40), 1e-9)
}

func TestCollectionsNestUpToTheLimit(t *testing.T) {
	for _, c := range []struct{ name, open, inner, end string }{
		{"brackets", "[", "", "]"},
		{"braces", "{a: ", "b", "}"},
		{"dashes", "- ", "a", ""},
		{"question marks", "? ", "a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			nest := func(depth int) []byte {
				return []byte(strings.Repeat(c.open, depth) + c.inner + strings.Repeat(c.end, depth))
			}
			_, _, err := ToJSON(nest(maxDepth + 1))
			require.EqualError(t, err, "yaml: exceeded max depth of 10000")

			_, _, err = ToJSON(nest(maxDepth - 1))
			if c.open == "? " {
				require.ErrorContains(t, err, "yaml: invalid map key: map[interface {}]interface {}{")
				return
			}
			require.NoError(t, err)
		})
	}
}

// TestTextBeforeAnUnreadableChunkIsNotMisread moves each document over the end
// of a chunk, of which the next one has a control character.
func TestTextBeforeAnUnreadableChunkIsNotMisread(t *testing.T) {
	for _, c := range documentCases() {
		if strings.ContainsAny(c.yaml, "%\ufeff") || !utf8.ValidString(c.yaml) {
			continue // must be at the start of the stream
		}
		for before := max(0, chunkSize-len(c.yaml)-10); before < chunkSize; before++ {
			doc := "#" + strings.Repeat(" ", before) + "\n" + c.yaml
			want := "yaml: control characters are not allowed"
			_, _, err := ToJSON([]byte(doc + strings.Repeat("\n#", chunkSize/2) + "\x00"))
			if err != nil { // the document ends before that chunk, or not
				require.EqualError(t, err, want, "%q", doc)
			}
			for cut := max(0, chunkSize-len(doc)+len(c.yaml)); cut < len(c.yaml); cut++ {
				if !utf8.RuneStart(c.yaml[cut]) {
					continue
				}
				_, _, err := ToJSON([]byte(doc[:len(doc)-len(c.yaml)+cut] + "\x00"))
				if err != nil {
					require.EqualError(t, err, want, "%q", doc[:len(doc)-len(c.yaml)+cut])
				}
			}
		}
	}
}

// TestLargeInputIsLinear would take minutes if anything were quadratic.
func TestLargeInputIsLinear(t *testing.T) {
	const size = 100_000
	for _, unit := range []string{
		"[", "{a: ", "- ", "? ", "a,", "a: ", "a\n", "a:\n", "- a\n", "&a ", "*a ", "!a ", "'\n", "\"\n", "\"\\\n", "#\n", " \n", "\n", ":", ": ", "?", ",", "%", "|\n", "\xff", "\u2028", "'a': ", "[a]: ", "[]", "\t", "---\n",
	} {
		for _, start := range []string{"", "[", "{", "\"", "'", "|\n ", "a: ", "- &a b\n- ["} {
			doc := start + strings.Repeat(unit, size/len(unit))
			got, _, err := ToJSON([]byte(doc))
			assert.Equal(t, err == nil, len(got) > 0, "%q after %q", unit, start)
		}
	}
}
