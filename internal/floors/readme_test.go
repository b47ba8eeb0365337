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
// exist, and each block of code is a part of a source file, which is compiled or run.
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
			for _, link := range regexp.MustCompile(`\]\(([^):#,\s]+)[)#]`).FindAllStringSubmatch(text, -1) {
				assert.FileExists(t, filepath.Join(root, filepath.Dir(page), link[1]))
			}
			for language, extension := range map[string]string{"go": ".go", "python": ".py", "js": ".js"} {
				for _, block := range codeBlocks(text, language) {
					assert.True(t, strings.Contains(sourcesOf[extension], block), "no source file has this block:\n%s", block)
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
	assert.LessOrEqual(t, strings.Count(string(data), "\n"), 120, "lines; tables belong into docs")
}

// TestNewUsersFindTheOtherLanguages checks the two pages that users of other languages read first.
func TestNewUsersFindTheOtherLanguages(t *testing.T) {
	for _, page := range []string{"README.md", "docs/testing.md"} {
		text := read(t, moduleRoot(t), page)
		for _, words := range []string{"examples/python/test_leases.py)", "examples/javascript/leases.test.js)", "Node 20", "TLS", "kubeconfig", "examples/kube"} {
			assert.Contains(t, text, words, page)
		}
	}
}

// TestClaimsOfPagesHaveTests compares testdata/claims.txt, where a developer finds the tests of a claim, with the pages and with the
// tests. The pages are for users, and name none.
func TestClaimsOfPagesHaveTests(t *testing.T) {
	root := moduleRoot(t)
	code := sources(t, root, ".go")
	claimed, text := "", map[string]string{}
	for _, page := range pages(t, root) {
		if text[page] = read(t, root, page); strings.HasPrefix(page, "docs/") || page == "README.md" {
			assert.Empty(t, namedTests(text[page]), page)
		}
	}
	page := ""
	for line := range strings.Lines(read(t, root, "internal/floors/testdata/claims.txt")) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 1 {
			page = fields[0]
			continue
		}
		require.Len(t, fields, 3, line)
		assert.Contains(t, text[page], fields[1], page)
		for name := range strings.FieldsSeq(fields[2]) {
			assert.True(t, strings.Contains(code, "\nfunc "+name+"("), "there is no %s", name)
		}
		if page == "docs/documents-versus-reality.md" {
			claimed += fields[1] + "\n"
		}
	}
	_, table, found := strings.Cut(text["docs/documents-versus-reality.md"], "| --- | --- |\n")
	require.True(t, found)
	assert.Equal(t, strings.Count(table, "\n"), strings.Count(claimed, "\n"), "each row has its tests in claims.txt")
}

// codeBlocks returns the blocks in a language, without indentation.
func codeBlocks(page, language string) (blocks []string) {
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, unindented(block[1]))
	}
	return blocks
}

// unindented returns a text without the spaces at the beginnings of its lines.
func unindented(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(text, "")
}

func TestCodeBlocksAreReadByLanguage(t *testing.T) {
	const readme = "```go\nif a {\n\tb()\n}\n```\ntext\n```python\nc()\n```\n```go\nd()\n```\n"
	assert.Equal(t, []string{"if a {\nb()\n}\n", "d()\n"}, codeBlocks(readme, "go"))
	assert.Equal(t, []string{"c()\n"}, codeBlocks(readme, "python"))
}

// sources returns all files of the tree with an extension as one text, without indentation.
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
	return unindented(b.String())
}
