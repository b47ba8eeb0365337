package floors

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path of the root module.
const module = "github.com/kubecoord/kubecoord"

// pkg describes a package as go list does.
type pkg struct {
	ImportPath   string
	Imports      []string // by its own files
	TestImports  []string // by the tests inside the package
	XTestImports []string // by those outside
	Deps         []string // direct and indirect imports
}

// name returns the path below the module, "." for its root.
func (p pkg) name() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// requirement describes a required module as go mod edit does.
type requirement struct {
	Path     string
	Indirect bool
}

// moduleRoot returns the nearest folder above this one with a go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	start, err := os.Getwd()
	require.NoError(t, err)
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("no go.mod in %s or above", start)
		}
	}
}

// packages returns the packages of the root module, including packages that do not compile.
func packages(t *testing.T, root string) []pkg {
	t.Helper()
	touchSources(t, root)
	var list []pkg
	decoder := json.NewDecoder(bytes.NewReader(goCommand(t, root, "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...")))
	for {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		list = append(list, p)
	}
}

// importsOfOtherModules returns the imports of each Go file of the modules below the root, tests included. Their packages are not
// listed, as that would need the libraries that they require.
func importsOfOtherModules(t *testing.T, root string) map[string][]string {
	t.Helper()
	imports, others := map[string][]string{}, []string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == ".git" || entry.Name() == "testdata" || entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
				others = append(others, path+string(filepath.Separator))
			}
			return nil
		}
		isBelow := func(folder string) bool { return strings.HasPrefix(path, folder) }
		if filepath.Ext(path) != ".go" || !slices.ContainsFunc(others, isBelow) {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		for _, spec := range f.Imports {
			imports[filepath.ToSlash(name)] = append(imports[filepath.ToSlash(name)], strings.Trim(spec.Path.Value, `"`))
		}
		return err
	})
	require.NoError(t, err)
	return imports
}

// requirements returns the modules that go.mod requires.
func requirements(t *testing.T, root string) []requirement {
	t.Helper()
	var mod struct{ Require []requirement }
	require.NoError(t, json.Unmarshal(goCommand(t, root, "mod", "edit", "-json"), &mod))
	return mod.Require
}

// goCommand returns the output of the go command in the module at root.
func goCommand(t *testing.T, root string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), &stderr)
	return out
}

// touchSources reads the folders and stats the Go files of the module. The go command caches the result of a test by the
// files that the test opens or stats, which do not include the files that go list reads.
func touchSources(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone since its folder was read
			return nil
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go":
			os.Stat(path)
		}
		return nil
	})
	require.NoError(t, err)
}
