package debug

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table in docs/testing.md is what users of other languages read.
func TestPageHasEachOperationAndMember(t *testing.T) {
	page, err := os.ReadFile("../../docs/testing.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(page), "\n## Faults by HTTP\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "\n## ")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([A-Z]+ /debug/[^`]*)`").FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
	}
	for _, o := range (control{}).listed() {
		assert.True(t, named[o.Method+" "+o.Path], "%s %s", o.Method, o.Path)
		delete(named, o.Method+" "+o.Path)
	}
	assert.Empty(t, named)
	for _, w := range wordsOf(reflect.TypeFor[faultJSON]()) {
		assert.Contains(t, text, "`"+w.name+"`")
	}
	for _, m := range regexp.MustCompile("`({\"verb\"[^`]*})`").FindAllStringSubmatch(text, -1) {
		var f faultJSON
		require.NoError(t, f.UnmarshalJSON([]byte(m[1])))
		_, err := f.effect()
		assert.NoError(t, err, m[1])
	}
}
