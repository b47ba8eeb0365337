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

// TestPagesNameOnlyThingsThatExist compares the pages with the tree: the tests, folders, files and pages that they name
// exist, and each line of their code is in a source file that is compiled or run.
func TestPagesNameOnlyThingsThatExist(t *testing.T) {
	root := moduleRoot(t)
	sourcesOf := map[string]string{}
	for _, extension := range []string{".go", ".py", ".js"} {
		sourcesOf[extension] = sources(t, root, extension)
	}
	for _, page := range pages(t, root) {
		t.Run(page, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(root, page))
			require.NoError(t, err)
			text := string(data)
			for _, name := range namedTests(text) {
				assert.True(t, strings.Contains(sourcesOf[".go"], "\nfunc "+name+"("), "there is no %s", name)
			}
			for _, path := range regexp.MustCompile("`((?:docs|examples|httpapi|internal|store)/[A-Za-z/._-]+|testdata/[a-z/.]+|[a-z]+/[a-z]+\\.go)`").FindAllStringSubmatch(text, -1) {
				_, err := os.Stat(filepath.Join(root, path[1]))
				assert.NoError(t, err)
			}
			for _, link := range regexp.MustCompile(`\]\(([^):#]+)`).FindAllStringSubmatch(text, -1) {
				assert.FileExists(t, filepath.Join(root, filepath.Dir(page), link[1]))
			}
			for _, language := range []struct{ name, extension, comment string }{
				{"go", ".go", " // "}, {"python", ".py", "  # "}, {"js", ".js", " // "},
			} {
				for _, line := range codeLines(text, language.name, language.comment) {
					assert.True(t, strings.Contains(sourcesOf[language.extension], line), "no source file has this line: %s", line)
				}
			}
		})
	}
}

// pages returns the paths of the pages at the root and in docs.
func pages(t *testing.T, root string) []string {
	t.Helper()
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, docs)
	all := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	for _, page := range docs {
		all = append(all, filepath.Join("docs", filepath.Base(page)))
	}
	return all
}

// namedTests returns the names of tests, benchmarks and fuzz tests in a text.
func namedTests(text string) (names []string) {
	for _, name := range regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Za-z0-9_]+)`").FindAllStringSubmatch(text, -1) {
		names = append(names, name[1])
	}
	return names
}

// TestReadmeIsShort keeps README.md at three minutes of reading.
func TestReadmeIsShort(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(moduleRoot(t), "README.md"))
	require.NoError(t, err)
	assert.LessOrEqual(t, strings.Count(string(data), "\n"), 160, "lines; tables belong into docs")
}

func TestEachRowOfDocumentsVersusRealityNamesItsTest(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "documents-versus-reality.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(data), "| --- | --- | --- |\n")
	require.True(t, found)
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		require.Len(t, cells, 3, row)
		assert.NotEmpty(t, namedTests(cells[2]), row)
	}
}

// codeLines returns the lines of code of the blocks in a language, without empty lines and trailing comments.
func codeLines(page, language, comment string) (lines []string) {
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			code, _, _ := strings.Cut(strings.TrimSpace(line), comment)
			if code = strings.TrimSpace(code); code != "" {
				lines = append(lines, code)
			}
		}
	}
	return lines
}

func TestCodeLinesAreReadByLanguage(t *testing.T) {
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
