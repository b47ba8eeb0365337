package yaml

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

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

func TestLongKeysThroughAliasesAreRefused(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	for name, doc := range map[string]string{
		"merges":     "a: &a {? " + long + " : 1}\nb: {<<: [" + strings.Repeat("*a,", 20) + "]}",
		"duplicates": "a: &a " + long + "\nb: {" + strings.Repeat("*a : 1,", 20) + "}",
		"nested":     "a: &a {? " + long + " : 1}\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]",
		"UTF-16":     utf16Text("a: &a " + long + "\nb: [" + strings.Repeat("*a,", 20) + "]"),
	} {
		_, _, err := ToJSON([]byte(doc))
		require.EqualError(t, err, tooManyAliases, name)
		for _, err := range Documents([]byte(doc)) {
			require.EqualError(t, err, tooManyAliases, name)
		}
	}
}

func TestAliasesBeforeAMistakeAfterTheDocument(t *testing.T) {
	const after = "\n---\n@"
	text, _, err := ToJSON([]byte("a: &a 1\nb: *a" + after))
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1,"b":1}`, string(text))

	many := "\nb: [" + strings.Repeat("*a,", 30) + "]"
	_, _, err = ToJSON([]byte("a: &a 1" + many + after))
	require.EqualError(t, err, "yaml: line 4: found character that cannot start any token") // of v3
	_, _, err = ToJSON([]byte("a: &c 1" + many + after))
	require.EqualError(t, err, "yaml: unknown anchor 'a' referenced")
}

func TestManyDirectivesAreRefused(t *testing.T) {
	const tooMany = "yaml: got more than 100 %TAG directives, want fewer"
	var b strings.Builder
	for i := range 101 {
		fmt.Fprintf(&b, "%%TAG !%d! x\n", i)
	}
	for _, doc := range []string{b.String() + "---\na: b\n", utf16Text(b.String() + "---\na: b\n")} {
		_, _, err := ToJSON([]byte(doc))
		require.EqualError(t, err, tooMany)
		for _, err := range Documents([]byte(doc)) {
			require.EqualError(t, err, tooMany)
		}
	}
	text, _, err := ToJSON([]byte(strings.SplitAfterN(b.String(), "\n", 2)[1] + "---\na: b\n"))
	require.NoError(t, err)
	require.JSONEq(t, `{"a":"b"}`, string(text))
}

// utf16Text returns text as little-endian UTF-16 with a byte order mark.
func utf16Text(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return string(out)
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
			_, _, err := ToJSON(nest(10001))
			require.EqualError(t, err, "yaml: exceeded max depth of 10000")

			_, _, err = ToJSON(nest(9999))
			if c.open == "? " {
				require.ErrorContains(t, err, "yaml: invalid map key: map[interface {}]interface {}{")
				return
			}
			require.NoError(t, err)
		})
	}
}

// TestLargeInputIsLinear would take minutes if anything were quadratic.
func TestLargeInputIsLinear(t *testing.T) {
	const size = 100_000
	for _, unit := range []string{
		"[", "{a: ", "- ", "? ", "a,", "a: ", "a\n", "a:\n", "- a\n", "&a ", "*a ", "!a ", "'\n", "\"\n", "\"\\\n", "#\n", " \n", "\n", ":", ": ", "?", ",", "%", "|\n", "\xff", "\u2028", "'a': ", "[a]: ", "[]", "\t", "---\n", "%TAG !a! b\n", "%YAML 1.1\n", "&a a\n*a ", "a: # b\n",
	} {
		for _, start := range []string{"", "[", "{", "\"", "'", "|\n ", "a: ", "- &a b\n- ["} {
			doc := start + strings.Repeat(unit, size/len(unit))
			got, _, err := ToJSON([]byte(doc))
			assert.Equal(t, err == nil, len(got) > 0, "%q after %q", unit, start)
		}
	}
}

func TestDeepDocumentsAreRefused(t *testing.T) {
	nest := func(depth, items int) []byte {
		return []byte(strings.Repeat("[", depth) + "1" + strings.Repeat(",1", items-1) + strings.Repeat("]", depth))
	}
	const depth = 2048 // 4 MiB of spaces up to the first item, and 4 KiB before each other one
	for items, deep := range map[int]bool{1: false, 1024: false, 1025: true, 10_000: true} {
		assert.Equal(t, deep, IsDeep(nest(depth, items)), items)
		_, err := FromJSON(nest(depth, items))
		assert.Equal(t, deep, err != nil, items)
	}
	quoted := []byte(`["` + strings.Repeat(`[,\"`, 10_000_000) + `"]`)
	assert.False(t, IsDeep(quoted), "brackets and commas in a text are text")
}
