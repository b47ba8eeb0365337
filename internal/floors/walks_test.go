package floors

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// walk is one of the walks through the code in CONTRIBUTING.md.
type walk struct {
	title string
	steps [][2]string // file, function
}

// readWalks returns the walks below the heading "Three walks". A step is a row with a file and its functions.
func readWalks(text string) (all []walk) {
	_, text, _ = strings.Cut(text, "\n## Three walks")
	text, _, _ = strings.Cut(text, "\n## ")
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			all = append(all, walk{title: strings.TrimSpace(title)})
		}
		cells := strings.Split(line, " | ")
		if len(all) == 0 || len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		file, w := quoted.FindStringSubmatch(cells[0])[1], &all[len(all)-1]
		for _, function := range quoted.FindAllStringSubmatch(cells[1], -1) {
			w.steps = append(w.steps, [2]string{file, function[1]})
		}
	}
	return all
}

func TestFunctionsOfTheWalksAreWhereContributingSays(t *testing.T) {
	root := moduleRoot(t)
	data, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	walks := readWalks(string(data))
	require.Len(t, walks, 3)
	for _, w := range walks {
		t.Run(w.title, func(t *testing.T) {
			require.NotEmpty(t, w.steps)
			for _, s := range w.steps {
				assert.Contains(t, functionsOf(t, filepath.Join(root, s[0])), s[1], s[0])
			}
		})
	}
}

// functionsOf returns the functions of a Go file, and its methods as Type.Method.
func functionsOf(t *testing.T, path string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range f.Decls {
		function, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := function.Name.Name
		if function.Recv != nil {
			name = receiverName(function.Recv.List[0].Type) + "." + name
		}
		names = append(names, name)
	}
	return names
}

// receiverName returns the type of a receiver without its pointer and type parameters.
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func TestWalksAreReadFromTheirTables(t *testing.T) {
	walks := readWalks("## Other\n| `a.go` | `No` | no |\n\n## Three walks\n### One\n\n" +
		"| file | functions | what |\n| --- | --- | --- |\n| `a.go` | `T.f`, `g` | text |\n| `a.go` | `g` | again |\n\n## Next\n| `b.go` | `No` | no |\n")
	require.Len(t, walks, 1)
	assert.Equal(t, [][2]string{{"a.go", "T.f"}, {"a.go", "g"}, {"a.go", "g"}}, walks[0].steps)
}
