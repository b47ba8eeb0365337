package floors

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In the tables, a pattern is the path of one package, or ends in "/..." and includes the packages below. Packages of this
// module are written without the path of the module.

// rule limits the direct imports of some packages. The standard library is always allowed.
type rule struct {
	packages string   // a pattern
	own      []string // packages of this module
	others   []string // packages of other modules
}

// importRules returns the rules for direct imports. Only reachRules limit packages without a rule here.
func importRules() []rule {
	return []rule{
		{"watch", []string{"internal/..."}, nil},
		{"selector", []string{"internal/..."}, nil},
		{"store/meta", []string{"internal/..."}, nil},
		{"store/clock", nil, nil},
		{"store/field", []string{"store/meta", "internal/codec"}, nil},
		{"store/schema", nil, nil},
		{"store/backend", nil, nil},
		{"store/kind", []string{"store/meta", "store/field", "store/schema", "internal/..."}, nil},
		{"internal/kinds", []string{"store/kind", "store/meta", "store/field", "store/schema", "internal/..."}, nil},
		{"store/admission", []string{"store/kind", "store/meta"}, nil},
		{"internal/registry", []string{"watch", "selector", "store/admission", "store/backend", "store/clock", "store/kind", "store/meta", "store/field", "internal/..."},
			[]string{"github.com/google/btree"}},
		{"store", []string{"watch", "store/admission", "store/backend", "store/clock", "store/kind", "store/meta", "store/field", "store/schema", "internal/..."}, nil},
		{"store/fixture", []string{"store", "store/kind", "store/meta", "internal/..."}, []string{"sigs.k8s.io/json"}},
		{"lease", []string{"store/...", "watch", "internal/..."}, nil},
		{"candidate/...", []string{"store/...", "watch", "internal/...", "lease", "candidate/internal/v1alpha1"}, []string{"github.com/blang/semver/...", "github.com/google/btree", "golang.org/x/sync/..."}},
		{"endpoints", []string{"store/...", "internal/..."}, nil},
		{"httpapi/client", []string{"store/...", "watch", "internal/..."}, nil},
		{"httpapi/debug", []string{"store/...", "watch", "lease", "candidate", "httpapi", "httpapi/apitest", "internal/timeline"}, nil},
		{"internal/timeline", []string{"store/...", "watch", "lease", "candidate"}, []string{"golang.org/x/sync/..."}},
	}
}

// reach refuses imports to some packages, direct and indirect ones.
type reach struct {
	packages string   // a pattern
	except   string   // a pattern of packages without the limit
	refused  []string // patterns; other modules with their whole path
	tests    bool     // the tests must not import them either
	direct   bool     // only direct imports
}

func reachRules() []reach {
	kinds := []string{"lease/...", "candidate/...", "endpoints/..."}
	above := append([]string{"httpapi/..."}, kinds...)
	return []reach{
		{packages: "...", refused: []string{"k8s.io/..."}, tests: true},
		{packages: "...", except: "examples/...", refused: []string{"examples/..."}, tests: true},
		{packages: "...", except: "internal/test/...", refused: []string{"internal/test/..."}},
		{packages: "httpapi/...", except: "httpapi/apitest/...", refused: []string{"testing", "testing/..."}},
		{packages: "httpapi/...", except: "httpapi/debug", refused: []string{"httpapi/debug", "internal/timeline"}},
		// From Go 1.27 on, net/http/httptest imports testing.
		{packages: "httpapi/apitest", refused: []string{"testing", "testing/..."}, direct: true},
		{packages: "examples/...", refused: []string{"testing", "testing/..."}, direct: true},
		// Examples import only what a user can import.
		{packages: "examples/...", refused: []string{"internal/..."}, direct: true, tests: true},
		{packages: "store/fixture", refused: []string{"testing", "testing/..."}},
		{packages: "internal/validate/...", refused: append([]string{"store"}, above...)},
		{packages: "internal/codec/...", refused: append([]string{"store"}, above...)},
		{packages: "internal/patch/...", refused: append([]string{"store"}, above...)},
		{packages: "internal/kinds", refused: append([]string{"store", "internal/registry", "internal/hub"}, above...)},
		{packages: "internal/registry", refused: append([]string{"store"}, above...)},
		// Nor by way of a package in internal.
		{packages: "selector", refused: append([]string{"watch", "store/..."}, above...)},
		{packages: "watch", refused: append([]string{"selector", "store/..."}, above...)},
		{packages: "store/...", refused: above},
		{packages: "lease", refused: []string{"candidate/...", "endpoints/...", "httpapi/..."}},
		{packages: "candidate/...", refused: []string{"endpoints/...", "httpapi/..."}},
		{packages: "endpoints", refused: []string{"lease/...", "candidate/...", "httpapi/..."}},
		{packages: "httpapi/client", refused: append([]string{"httpapi", "httpapi/apitest", "store/fixture"}, kinds...)},
		{packages: "examples/contend", refused: []string{"httpapi", "httpapi/apitest", "store/fixture", "candidate/...", "endpoints/..."}},
	}
}

// requirable lists the modules that go.mod may require. The value is true if only an indirect requirement is allowed.
func requirable() map[string]bool {
	return map[string]bool{
		"github.com/blang/semver/v4":     false,
		"github.com/google/btree":        false,
		"github.com/munnerz/goautoneg":   false,
		"golang.org/x/sync":              false,
		"github.com/stretchr/testify":    false,
		"sigs.k8s.io/json":               false,
		"gopkg.in/evanphx/json-patch.v4": false,
		"google.golang.org/protobuf":     false,
		"go.yaml.in/yaml/v2":             false,
		"go.yaml.in/yaml/v3":             false,

		// Required by testify.
		"github.com/stretchr/objx":      true,
		"github.com/davecgh/go-spew":    true,
		"github.com/pmezard/go-difflib": true,
		"gopkg.in/yaml.v3":              true,
	}
}

// folders lists the folders that the root of the module may have. Names that begin with a dot are always allowed.
func folders() []string {
	return []string{"lease", "candidate", "endpoints", "store", "watch", "selector", "httpapi", "examples", "internal", "docs"}
}

func TestImportsPointDown(t *testing.T) {
	all := packages(t, moduleRoot(t))
	require.True(t, slices.ContainsFunc(all, func(p pkg) bool { return p.name() == "internal/floors" }), "go list should find this package, got %d others", len(all))
	for _, r := range importRules() {
		t.Run(r.packages, func(t *testing.T) { report(t, r.broken(all)) })
	}
}

func TestNoPackageReachesARefusedOne(t *testing.T) {
	all := packages(t, moduleRoot(t))
	for _, r := range reachRules() {
		t.Run(r.packages+" and "+r.refused[0], func(t *testing.T) { report(t, r.broken(all)) })
	}
}

// TestOtherModulesImportOnlyWhatUsersCanImport is about the modules outside of the folder internal. The compiler lets them import the
// internal packages of the root module, since their paths are below it. The pictures of examples are not what they show.
func TestOtherModulesImportOnlyWhatUsersCanImport(t *testing.T) {
	imports := importsOfOtherModules(t, moduleRoot(t))
	require.Contains(t, imports["store/etcd/open.go"], module+"/store")
	for file, paths := range imports {
		if matches("internal/...", file) {
			continue
		}
		for _, path := range paths {
			drawn := matches("examples/...", file) && path == module+"/internal/timeline"
			assert.False(t, matches(module+"/internal/...", path) && !drawn, "%s imports %s", file, path)
		}
	}
}

func TestModuleRequiresOnlySmallLibraries(t *testing.T) {
	report(t, brokenRequirements(requirements(t, moduleRoot(t))))
}

func TestRootHoldsOnlyKnownFolders(t *testing.T) {
	entries, err := os.ReadDir(moduleRoot(t))
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	report(t, brokenFolders(names))
}

func report(t *testing.T, broken []string) {
	t.Helper()
	for _, b := range broken {
		assert.Fail(t, b)
	}
}

func TestMatches(t *testing.T) {
	for _, row := range []struct {
		pattern, name string
		want          bool
	}{
		{"store", "store", true},
		{"store", "store/meta", false},
		{"store/...", "store", true},
		{"store/...", "store/meta", true},
		{"store/...", "storehouse", false},
		{"...", "store", true},
		{"...", ".", true},
		{"k8s.io/...", "k8s.io/api/core/v1", true},
		{"k8s.io/...", "sigs.k8s.io/json", false},
	} {
		t.Run(row.pattern+" and "+row.name, func(t *testing.T) {
			assert.Equal(t, row.want, matches(row.pattern, row.name))
		})
	}
}

func TestRulesReportRefusedImports(t *testing.T) {
	own := func(names ...string) []string {
		for i, name := range names {
			names[i] = module + "/" + name
		}
		return names
	}
	for _, row := range []struct {
		name string
		pkg  pkg
		want []string // parts of the messages; nil if there must be none
	}{
		{"registry imports packages below it", pkg{ImportPath: module + "/internal/registry", Imports: append(own("watch", "internal/codec"), "fmt", "github.com/google/btree")}, nil},
		{"registry imports store", pkg{ImportPath: module + "/internal/registry", Imports: own("store")}, []string{"internal/registry imports", "got store"}},
		{"registry reaches store", pkg{ImportPath: module + "/internal/registry", Deps: own("store")}, []string{"internal/registry reaches", "got store"}},
		{"candidate imports lease", pkg{ImportPath: module + "/candidate", Imports: own("lease", "store")}, nil},
		{"lease imports candidate", pkg{ImportPath: module + "/lease", Imports: own("candidate")}, []string{"lease imports", "got candidate"}},
		{"the API reaches a package for tests", pkg{ImportPath: module + "/httpapi", Deps: own("internal/test/wiretest")}, []string{"httpapi reaches", "got internal/test/wiretest"}},
		{"a test imports a package for tests", pkg{ImportPath: module + "/httpapi", XTestImports: own("internal/test/wiretest")}, nil},
		{"httpapi reaches testing", pkg{ImportPath: module + "/httpapi", Deps: []string{"testing"}}, []string{"httpapi reaches", "got testing"}},
		{"apitest imports testing", pkg{ImportPath: module + "/httpapi/apitest", Imports: []string{"testing"}}, []string{"httpapi/apitest reaches", "got testing"}},
		{"httpapi reaches the examples", pkg{ImportPath: module + "/httpapi", Deps: own("examples/server")}, []string{"httpapi reaches", "got examples/server"}},
		{"a test imports the examples", pkg{ImportPath: module + "/httpapi", XTestImports: own("examples/server")}, []string{"a test of httpapi", "got examples/server"}},
		{"an example imports another", pkg{ImportPath: module + "/examples/embed", Deps: own("examples/server")}, nil},
		{"a test imports Kubernetes", pkg{ImportPath: module + "/lease", TestImports: []string{"k8s.io/api/core/v1"}}, []string{"a test of lease", "got k8s.io/api/core/v1"}},
		{"Kubernetes' JSON is not Kubernetes", pkg{ImportPath: module + "/internal/codec", Deps: []string{"sigs.k8s.io/json"}}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var broken []string
			for _, r := range importRules() {
				broken = append(broken, r.broken([]pkg{row.pkg})...)
			}
			for _, r := range reachRules() {
				broken = append(broken, r.broken([]pkg{row.pkg})...)
			}
			if row.want == nil {
				assert.Empty(t, broken)
			}
			for _, want := range row.want {
				assert.Contains(t, strings.Join(broken, "\n"), want)
			}
		})
	}
}

func TestRefusedRequirementsAreReported(t *testing.T) {
	assert.Empty(t, brokenRequirements([]requirement{{Path: "github.com/google/btree"}, {Path: "sigs.k8s.io/json", Indirect: true}, {Path: "github.com/stretchr/objx", Indirect: true}}))
	broken := brokenRequirements([]requirement{{Path: "k8s.io/api"}, {Path: "github.com/stretchr/objx"}})
	require.Len(t, broken, 2)
	assert.Contains(t, broken[0], "got k8s.io/api, want one of")
	assert.Contains(t, broken[1], "got github.com/stretchr/objx as a direct requirement, want it indirect")
}

func TestUnknownFoldersAreReported(t *testing.T) {
	assert.Empty(t, brokenFolders([]string{".ci", ".git", "store", "internal"}))
	broken := brokenFolders([]string{"pkg"})
	require.Len(t, broken, 1)
	assert.Contains(t, broken[0], "got pkg, want one of")
}
