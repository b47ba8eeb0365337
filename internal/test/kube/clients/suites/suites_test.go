package suites

import (
	"bufio"
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/ginkgo"
)

var server = flag.String("cluster", "", "run the suites on the server at this `URL`, and print the counts only")

// suite is the tests of a package.
type suite struct {
	pkg   string
	specs int // that run; others are pending upstream
}

func suites() []suite {
	return []suite{
		{"sigs.k8s.io/controller-runtime/pkg/client", 311},
		{"sigs.k8s.io/controller-runtime/pkg/cache", 276},
		{"sigs.k8s.io/controller-runtime/pkg/manager", 107},
		{"sigs.k8s.io/controller-runtime/pkg/handler", 96},
		{"sigs.k8s.io/controller-runtime/pkg/internal/controller", 75},
		{"sigs.k8s.io/controller-runtime/pkg/builder", 72},
		{"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil", 60},
		{"sigs.k8s.io/controller-runtime/pkg/controller", 32},
		{"sigs.k8s.io/controller-runtime/pkg/source", 19},
		{"sigs.k8s.io/controller-runtime/pkg/cluster", 15},
		{"sigs.k8s.io/controller-runtime/pkg/internal/recorder", 5},
		{"sigs.k8s.io/controller-runtime/pkg/webhook", 8},
	}
}

func TestSpecsOfControllerRuntimePass(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the suites of controller-runtime, which takes minutes the first time")
	}
	known := readKnown(t)
	for _, s := range suites() {
		t.Run(strings.TrimPrefix(s.pkg, "sigs.k8s.io/controller-runtime/pkg/"), func(t *testing.T) {
			excused := func(name string) bool { return *server != "" || known[s.pkg][name] != "" }
			passed, failed := count(ginkgo.InTwoRuns(t, excused, func() map[string]ginkgo.Result { return play(t, s.pkg) }))
			t.Logf("%s: %d of %d specs pass", s.pkg, passed, passed+len(failed))
			if *server != "" {
				for name, message := range failed {
					t.Logf("failed: %s: %s", name, message)
				}
				return
			}
			assert.Equal(t, s.specs, passed+len(failed), "specs that ran")
			for name, message := range failed {
				if known[s.pkg][name] == "" {
					assert.Fail(t, name, "%s", message)
				}
			}
			for name, reason := range known[s.pkg] {
				if !atTimes(reason) {
					assert.Contains(t, failed, name, "testdata/specs.txt has a spec that passes")
				}
			}
		})
	}
}

// atTimes reports whether a reason of testdata/specs.txt is for specs that fail in some runs only.
func atTimes(reason string) bool { return strings.HasPrefix(reason, "At times: ") }

// play runs the suite of a package.
func play(t *testing.T, pkg string) map[string]ginkgo.Result {
	t.Helper()
	return ginkgo.Run(t, pkg, func(source string) (string, []string) {
		var kubeconfig string
		if *server == "" {
			kubeconfig = serve(t)
		} else {
			kubeconfig = writeKubeconfig(t, *server)
		}
		return source, []string{"USE_EXISTING_CLUSTER=true", "KUBECONFIG=" + kubeconfig}
	})
}

// count returns the number of specs that pass, and the messages of those that fail.
func count(results map[string]ginkgo.Result) (passed int, failed map[string]string) {
	failed = map[string]string{}
	for name, r := range results {
		switch {
		case r.State == "passed":
			passed++
		case r.Failed():
			failed[name] = r.Message
		}
	}
	return passed, failed
}

// readKnown reads testdata/specs.txt: the reasons by package and spec. A line without a space at its begin is a package, or a
// reason for the specs that follow, indented.
func readKnown(t *testing.T) map[string]map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "specs.txt"))
	require.NoError(t, err)
	defer f.Close()
	known := map[string]map[string]string{}
	pkg, reason := "", ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch line := lines.Text(); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "sigs.k8s.io/"):
			pkg, reason = line, ""
			known[pkg] = map[string]string{}
		case line[0] != ' ':
			reason = line
		default:
			require.NotEmpty(t, cmp.Or(pkg, reason), "%q has no package or reason", line)
			known[pkg][strings.TrimSpace(line)] = reason
		}
	}
	names := suites()
	for pkg := range known {
		require.True(t, slices.ContainsFunc(names, func(s suite) bool { return s.pkg == pkg }), pkg)
	}
	return known
}

// writeKubeconfig returns the file of a kubeconfig for a server without authentication.
func writeKubeconfig(t *testing.T, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(`apiVersion: v1
kind: Config
clusters: [{name: k, cluster: {server: "`+url+`"}}]
users: [{name: k, user: {}}]
contexts: [{name: k, context: {cluster: k, user: k}}]
current-context: k
`), 0o600))
	return file
}
