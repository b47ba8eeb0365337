package referee

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

// omission is a suite, or part of a suite, that is not run, and the reason.
type omission struct{ Name, Reason string }

const (
	noTTL        = "a store has no TTL: no kind of the API that it serves is given one"
	noUnreadable = "a store holds Go values, which are always readable: only the adapter's decoding would be tested"
	noBenchmark  = "a benchmark gives no verdict, and most of its time would go into the adapter's codec; the store has its own"
)

// leftOut lists the suites that are not run.
var leftOut = []omission{
	{"RunTestCreateWithTTL", noTTL},
	{"RunTestGuaranteedUpdateWithTTL", noTTL},
	{"RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError", noUnreadable},
	{"RunTestDeleteExpectedTransformOrDecodeError", noUnreadable},
	{"RunTestGetListWithErrorAggregation", noUnreadable},
	{"RunTestGetListWithoutErrorAggregation", noUnreadable},
	{"RunTestTransformationFailure", noUnreadable},
	{"RunTestWatchError", noUnreadable},
	{"RunTestWatchWithUnsafeDelete", noUnreadable},
	{"RunWatchErrorIsBlockingFurtherEvents", noUnreadable},
	{"RunOptionalTestProgressNotify", "progress events are between etcd and the watch cache; bookmarks, which clients see, are tested"},
	{"RunBenchmarkStoreList", noBenchmark},
	{"RunBenchmarkStoreStats", noBenchmark},
	{"RunBenchmarkWriteThroughput", noBenchmark},
}

// partly lists the suites that are run without one of their parts.
var partly = []omission{
	{"RunTestGet", "the update's TTL of one second is ignored"},
	{"RunTestConsistentList", "as etcd's store: a store has no cache that may lag behind"},
	{"RunTestListContinuation", "without the count of requests to etcd"},
	{"RunTestListContinuationWithFilter", "without the count of requests to etcd"},
	{"RunTestListPaginationRareObject", "without the count of requests to etcd"},
	{"RunTestStats", "without sizes, which estimate the load of etcd"},
}

func TestEverySuiteIsRunOrLeftOutWithAReason(t *testing.T) {
	offered := map[string]bool{}
	for _, file := range parse(t, upstreamFolder(), func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Run") {
				offered[f.Name.Name] = true
			}
		}
	}
	if len(offered) < 50 {
		t.Fatalf("only %d suites found in %s", len(offered), upstreamFolder())
	}
	run := map[string]bool{}
	for _, file := range parse(t, ".", func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.SelectorExpr); ok && offered[f.Sel.Name] {
				if pkg, ok := f.X.(*ast.Ident); ok && pkg.Name == "storagetesting" {
					run[f.Sel.Name] = true
				}
			}
			return true
		})
	}
	left := map[string]bool{}
	for _, o := range leftOut {
		if left[o.Name] = true; o.Reason == "" || run[o.Name] || !offered[o.Name] {
			t.Errorf("%s is in leftOut: run %t, offered %t, reason %q", o.Name, run[o.Name], offered[o.Name], o.Reason)
		}
	}
	for _, o := range partly {
		if o.Reason == "" || !run[o.Name] {
			t.Errorf("%s is in partly: run %t, reason %q", o.Name, run[o.Name], o.Reason)
		}
	}
	for name := range offered {
		if !run[name] && !left[name] {
			t.Errorf("%s is neither run nor left out", name)
		}
	}
	t.Logf("%d suites are offered, %d run, %d left out", len(offered), len(run), len(left))
}

// upstreamFolder is where the source of the suites is.
func upstreamFolder() string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(storagetesting.CreateObjList).Pointer()).FileLine(0)
	return filepath.Dir(file)
}

// parse parses the selected Go files of a folder.
func parse(t *testing.T, folder string, wanted func(name string) bool) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no source in %s (%v): was the test built with -trimpath?", folder, err)
	}
	for _, name := range names {
		if !wanted(name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
