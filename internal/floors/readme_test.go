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
// readers to are there, and its Go code stands in a program or an example that is compiled.
func TestReadmeClaimsOnlyWhatATestBacks(t *testing.T) {
	root := moduleRoot(t)
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	readme := string(data)
	sources := goSources(t, root)

	for _, name := range regexp.MustCompile("`(Test[A-Za-z0-9_]+|Benchmark[A-Za-z0-9_]+|Fuzz[A-Za-z0-9_]+)`").FindAllStringSubmatch(readme, -1) {
		assert.Regexp(t, `(?m)^func `+name[1]+`\(`, sources, "README.md names %s", name[1])
	}
	for _, path := range regexp.MustCompile("`(examples/[a-z/]+|testdata/[a-z/.]+|[a-z]+/[a-z]+\\.go)`").FindAllStringSubmatch(readme, -1) {
		_, err := os.Stat(filepath.Join(root, path[1]))
		assert.NoError(t, err, "README.md names %s", path[1])
	}
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			if code, _, found := strings.Cut(line, " // "); found {
				line = strings.TrimSpace(code)
			}
			assert.True(t, line == "" || strings.Contains(sources, line), "README.md shows code that is nowhere compiled: %s", line)
		}
	}
}

// goSources returns all Go files of the tree as one text.
func goSources(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		data, err := os.ReadFile(path)
		b.Write(data)
		return err
	})
	require.NoError(t, err)
	return b.String()
}
