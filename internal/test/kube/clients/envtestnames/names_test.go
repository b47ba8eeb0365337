// Package envtestnames compares what httpapi/kube/envtest exports with controller-runtime's envtest: names, fields, methods and
// signatures. testdata/differences.txt lists what is missing, what is different and what is more, each with a reason.
package envtestnames

import (
	"bufio"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	theirs = "sigs.k8s.io/controller-runtime/pkg/envtest"
	ours   = "github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

func TestEnvtestHasTheSameNames(t *testing.T) {
	packages := load(t)
	want, got := exports(packages[theirs]), exports(packages[ours])
	var differences []string
	for name, signature := range want {
		switch other, found := got[name]; {
		case !found:
			differences = append(differences, "missing "+name)
		case other != signature:
			differences = append(differences, fmt.Sprintf("different %s: %s, and there %s", name, other, signature))
		}
	}
	for name := range got {
		if _, found := want[name]; !found {
			differences = append(differences, "more "+name)
		}
	}
	slices.Sort(differences)
	known := reasons(t)
	for _, d := range differences {
		name, _, _ := strings.Cut(d, ": ")
		assert.NotEmpty(t, known[name], "no reason for: %s", d)
		delete(known, name)
	}
	assert.Empty(t, known, "reasons that nothing needs")
}

// load returns both packages by the export data of the go command.
func load(t *testing.T) map[string]*types.Package {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", theirs, ours)
	out, err := cmd.Output()
	require.NoError(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	gc := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	all := map[string]*types.Package{}
	for _, path := range []string{theirs, ours} {
		all[path], err = gc.Import(path)
		require.NoError(t, err)
	}
	return all
}

// exports returns the signatures of the exported names, fields and methods. Types of both packages are written without them.
func exports(p *types.Package) map[string]string {
	// The types behind upstream's aliases are in internal packages, and have the same names.
	short := func(other *types.Package) string {
		if other == p || strings.Contains(other.Path(), "controller-runtime/pkg/internal/testing/") {
			return ""
		}
		return other.Path()
	}
	text := func(o types.Object) string { return types.TypeString(unnamed(o.Type()), short) }
	all := map[string]string{}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		if _, isType := o.(*types.TypeName); !isType {
			all[name] = text(o)
			continue
		}
		all[name] = "type"
		methods := types.NewMethodSet(types.NewPointer(o.Type()))
		for i := range methods.Len() {
			if f := methods.At(i).Obj(); f.Exported() && len(methods.At(i).Index()) == 1 {
				all[name+"."+f.Name()] = text(f)
			}
		}
		switch under := types.Unalias(o.Type()).Underlying().(type) {
		case *types.Struct:
			for i := range under.NumFields() {
				if f := under.Field(i); f.Exported() {
					all[name+"."+f.Name()] = text(f)
				}
			}
		case *types.Interface:
			for i := range under.NumMethods() {
				all[name+"."+under.Method(i).Name()] = text(under.Method(i))
			}
		}
	}
	return all
}

// unnamed returns a type, a signature without the names of its parameters and results.
func unnamed(t types.Type) types.Type {
	sig, ok := t.(*types.Signature)
	if !ok {
		return t
	}
	plain := func(vars *types.Tuple) *types.Tuple {
		var out []*types.Var
		for i := range vars.Len() {
			out = append(out, types.NewParam(token.NoPos, nil, "", vars.At(i).Type()))
		}
		return types.NewTuple(out...)
	}
	return types.NewSignatureType(nil, nil, nil, plain(sig.Params()), plain(sig.Results()), sig.Variadic())
}

// reasons reads the list: the differences below each reason, indented.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "differences.txt"))
	require.NoError(t, err)
	defer f.Close()
	known, reason := map[string]string{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch line := lines.Text(); {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			reason = line
		default:
			known[strings.TrimSpace(line)] = reason
		}
	}
	return known
}
