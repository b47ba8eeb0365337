package suites

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			kubeconfig := *server
			if kubeconfig == "" {
				kubeconfig = serve(t)
			} else {
				kubeconfig = writeKubeconfig(t, *server)
			}
			results := run(t, s.pkg, kubeconfig)
			passed, failed := 0, map[string]string{}
			for name, r := range results {
				switch r.state {
				case "passed":
					passed++
				case "pending", "skipped":
				default:
					failed[name] = r.message
				}
			}
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
			for name := range known[s.pkg] {
				assert.Contains(t, failed, name, "testdata/specs.txt has a spec that passes")
			}
		})
	}
}

// result is what became of a spec.
type result struct{ state, message string }

// run builds and runs the suite of a package, and returns the results by the names of the specs.
func run(t *testing.T, pkg, kubeconfig string) map[string]result {
	t.Helper()
	dir := t.TempDir()
	binary, report := filepath.Join(dir, "suite.test"), filepath.Join(dir, "report.json")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, pkg).CombinedOutput()
	if err != nil && strings.Contains(string(out), "dial tcp") {
		t.Skipf("the modules of the suite are not on this machine, and there is no network: %s", out)
	}
	require.NoError(t, err, "%s", out)
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", pkg).Output()
	require.NoError(t, err)

	cmd := exec.CommandContext(t.Context(), binary, "-ginkgo.no-color", "-ginkgo.json-report="+report)
	cmd.Dir = strings.TrimSpace(string(folder))
	cmd.Env = append(os.Environ(), "USE_EXISTING_CLUSTER=true", "KUBECONFIG="+kubeconfig)
	out, err = cmd.CombinedOutput()
	data, missing := os.ReadFile(report)
	require.NoError(t, missing, "%v: %s", err, out)
	return parse(t, data)
}

// parse reads a report of ginkgo.
func parse(t *testing.T, data []byte) map[string]result {
	t.Helper()
	var reports []struct {
		SpecReports []struct {
			ContainerHierarchyTexts           []string
			LeafNodeType, LeafNodeText, State string
			Failure                           struct{ Message string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &reports))
	results := map[string]result{}
	for _, r := range reports {
		for _, s := range r.SpecReports {
			name := strings.Join(append(s.ContainerHierarchyTexts, s.LeafNodeText), " / ")
			if s.LeafNodeType != "It" {
				if s.State == "passed" {
					continue
				}
				name = s.LeafNodeType
			}
			for n := 2; results[name] != (result{}); n++ { // upstream has specs with the same text
				name = fmt.Sprintf("%s (%d)", strings.Split(name, " (")[0], n)
			}
			results[name] = result{s.State, s.Failure.Message}
		}
	}
	return results
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
