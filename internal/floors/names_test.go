package floors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// public lists the packages whose exported names need a use or a defence.
func public() []string {
	return []string{"store/...", "watch", "selector", "lease", "candidate/...", "endpoints", "httpapi/..."}
}

// programs lists the packages that use names as the programs of users do.
func programs() []string { return []string{"examples/...", "httpapi/debug", "internal/timeline"} }

// TestEachExportedNameHasAUse compares the exported types, functions, methods, constants and variables of the public
// packages with the code of example files (example*_test.go) and of programs. A name that neither uses must stand in
// defended. Fields are left out: they go with their types.
func TestEachExportedNameHasAUse(t *testing.T) {
	root := moduleRoot(t)
	all := listExports(t, root)
	names := exportedNames(t, all)
	require.Contains(t, names, "store.New")
	used := usedNames(t, root, all)
	reasons := map[string]string{}
	for _, d := range defended() {
		for _, name := range d.names {
			assert.Empty(t, reasons[name], "%s: defended twice", name)
			reasons[name] = d.reason
			assert.Contains(t, names, name, "%s: defended, and there is no such name", name)
			assert.False(t, used[name], "%s: defended, and an example uses it: take it out of defended", name)
		}
	}
	for _, name := range names {
		if !used[name] && !isStandardMethod(name) && reasons[name] == "" {
			assert.Fail(t, name+": no example uses it, and defended has no reason for it")
		}
	}
}

// isStandardMethod reports whether a method makes its type an error, a fmt.Stringer or a json.Marshaler, which users
// call through the standard library.
func isStandardMethod(name string) bool {
	method := name[strings.LastIndex(name, ".")+1:]
	return slices.Contains([]string{"Error", "Is", "Unwrap", "String", "MarshalJSON", "UnmarshalJSON"}, method) &&
		strings.Count(name, ".") == 2
}

// exported is a package as go list -export describes it.
type exported struct {
	ImportPath   string
	Dir          string
	Export       string // the file with its types
	GoFiles      []string
	XTestGoFiles []string
}

// listExports lists the packages of the root module and all that they import.
func listExports(t *testing.T, root string) map[string]exported {
	t.Helper()
	touchSources(t, root)
	all := map[string]exported{}
	decoder := json.NewDecoder(bytes.NewReader(goCommand(t, root, "list", "-e", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,XTestGoFiles", "./...")))
	for {
		var p exported
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all[p.ImportPath] = p
	}
}

// newImporter returns an importer that reads the files which go list named.
func newImporter(fset *token.FileSet, all map[string]exported) types.Importer {
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
}

// exportedNames returns the names of the public packages, sorted: "store.New", "store.Collection.Get".
func exportedNames(t *testing.T, all map[string]exported) (names []string) {
	t.Helper()
	imports := newImporter(token.NewFileSet(), all)
	for path := range all {
		if name, own := isOwn(path); !own || !anyMatches(public(), name) || strings.Contains(path, "/internal/") || strings.Contains(path, " ") || strings.HasSuffix(path, ".test") {
			continue
		}
		p, err := imports.Import(path)
		require.NoError(t, err)
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			names = append(names, nameOf(o))
			for m := range methods(o) {
				if m.Exported() {
					names = append(names, nameOf(m))
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// methods yields the methods that a type declares.
func methods(o types.Object) func(yield func(*types.Func) bool) {
	return func(yield func(*types.Func) bool) {
		named, ok := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !ok || !isType {
			return
		}
		for m := range named.Methods() {
			if !yield(m) {
				return
			}
		}
		if i, ok := named.Underlying().(*types.Interface); ok {
			for m := range i.ExplicitMethods() {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// nameOf returns the folder, the receiver and the name of an object, or "" if it is not of this module or not exported.
func nameOf(o types.Object) string {
	if o.Pkg() == nil || !o.Exported() {
		return ""
	}
	folder, own := isOwn(o.Pkg().Path())
	if !own {
		return ""
	}
	f, ok := o.(*types.Func)
	if !ok {
		return folder + "." + o.Name()
	}
	receiver := f.Origin().Signature().Recv()
	if receiver == nil {
		return folder + "." + o.Name()
	}
	of := receiver.Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	named, ok := of.(*types.Named)
	if !ok {
		return ""
	}
	return folder + "." + named.Obj().Name() + "." + o.Name()
}

// usedNames returns the names that examples and programs use.
func usedNames(t *testing.T, root string, all map[string]exported) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	fset := token.NewFileSet()
	imports := newImporter(fset, all)
	use := func(path, dir string, files []string) {
		var parsed []*ast.File
		for _, name := range files {
			f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			parsed = append(parsed, f)
		}
		info := types.Info{Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: imports, Error: func(error) {}} // example files may use what another test file declares
		conf.Check(path, fset, parsed, &info)
		for _, o := range info.Uses {
			used[nameOf(o)] = true
		}
	}
	for path, p := range all {
		folder, own := isOwn(path)
		if !own || strings.Contains(path, " ") || strings.HasSuffix(path, ".test") {
			continue
		}
		if anyMatches(programs(), folder) {
			use(path, p.Dir, p.GoFiles)
		}
		use(path+"_test", p.Dir, slices.DeleteFunc(slices.Clone(p.XTestGoFiles), func(name string) bool { return !strings.Contains(name, "example") }))
	}
	usedInModule(t, filepath.Join(root, "examples", "kube"), used)
	return used
}

// usedInModule adds the names that the programs of another module use. Their types are not checked, as that would
// compile the Kubernetes libraries: only the functions, types, constants and variables are found, not the methods.
func usedInModule(t *testing.T, dir string, used map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folders := map[string]string{}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if folder, own := isOwn(path); err == nil && own {
				local := folder[strings.LastIndex(folder, "/")+1:]
				if spec.Name != nil {
					local = spec.Name.Name
				}
				folders[local] = folder
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && folders[x.Name] != "" {
					used[fmt.Sprintf("%s.%s", folders[x.Name], s.Sel.Name)] = true
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
}
