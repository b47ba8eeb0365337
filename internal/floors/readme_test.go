package floors

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadmeClaimsOnlyWhatATestBacks holds README.md against the tree: the tests it names exist, the folders it sends
// readers to are there, and its code stands in a program or an example that is compiled, or in a test that is run.
func TestReadmeClaimsOnlyWhatATestBacks(t *testing.T) {
	root := moduleRoot(t)
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	readme := string(data)
	goSources := sources(t, root, ".go")

	for _, name := range regexp.MustCompile("`(Test[A-Za-z0-9_]+|Benchmark[A-Za-z0-9_]+|Fuzz[A-Za-z0-9_]+)`").FindAllStringSubmatch(readme, -1) {
		assert.Regexp(t, `(?m)^func `+name[1]+`\(`, goSources, "README.md names %s", name[1])
	}
	for _, path := range regexp.MustCompile("`((?:examples|internal/test)/[a-z/]+|testdata/[a-z/.]+|[a-z]+/[a-z]+\\.go)`").FindAllStringSubmatch(readme, -1) {
		_, err := os.Stat(filepath.Join(root, path[1]))
		assert.NoError(t, err, "README.md names %s", path[1])
	}
	for _, language := range []struct{ name, extension, comment string }{
		{"go", ".go", " // "}, {"python", ".py", "  # "}, {"js", ".js", " // "},
	} {
		all := sources(t, root, language.extension)
		for _, line := range codeLines(readme, language.name, language.comment) {
			assert.True(t, strings.Contains(all, line), "README.md shows code that is nowhere compiled or run: %s", line)
		}
	}
}

// codeLines returns the lines of the blocks in a language, without what is empty and what is comment at their ends.
func codeLines(readme, language, comment string) (lines []string) {
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		for line := range strings.Lines(block[1]) {
			code, _, _ := strings.Cut(strings.TrimSpace(line), comment)
			if code = strings.TrimSpace(code); code != "" {
				lines = append(lines, code)
			}
		}
	}
	return lines
}

func TestCodeInReadmeIsFoundInItsLanguage(t *testing.T) {
	const readme = "```go\na() // first\n\n\tb()\n```\ntext\n```python\nc()  # third\n```\n```js\nd(); // fourth\n```\n```python\ne()\n```\n"
	assert.Equal(t, []string{"a()", "b()"}, codeLines(readme, "go", " // "))
	assert.Equal(t, []string{"c()", "e()"}, codeLines(readme, "python", "  # "))
	assert.Equal(t, []string{"d();"}, codeLines(readme, "js", " // "))
}

// sources returns all files of the tree with an extension as one text.
func sources(t *testing.T, root, extension string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != extension {
			return nil
		}
		data, err := os.ReadFile(path)
		b.Write(data)
		return err
	})
	require.NoError(t, err)
	return b.String()
}
