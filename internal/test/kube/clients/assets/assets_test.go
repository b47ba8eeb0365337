package assets

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/ginkgo"
)

const pkg = "sigs.k8s.io/controller-runtime/pkg/"

// folder returns a folder for KUBEBUILDER_ASSETS, which is made once in a process, below a directory that TestMain removes.
var folder = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(root, "assets")
	out, err := exec.Command("go", "run", "github.com/kubecoord/kubecoord/httpapi/kube/assets", dir).CombinedOutput()
	if err != nil {
		return "", &failure{err, out}
	}
	return dir, nil
})

// failure is the error of a command with its output.
type failure struct {
	err error
	out []byte
}

func (f *failure) Error() string { return f.err.Error() + "\n" + string(f.out) }

var root string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "assets-")
	if err != nil {
		panic(err)
	}
	root = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// specs are how many specs of a package run.
func specs() map[string]int {
	return map[string]int{
		"envtest": 28, "internal/testing/controlplane": 41, "internal/testing/process": 53, "internal/testing/addr": 3, "internal/testing/certs": 18,
	}
}

func TestSuitesOfEnvtestPass(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the suites of envtest")
	}
	dir, err := folder()
	require.NoError(t, err)
	for name, want := range specs() {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { endLeft(t, dir) })
			results := ginkgo.InTwoRuns(t, func(string) bool { return false }, func() map[string]ginkgo.Result {
				return ginkgo.Run(t, pkg+name, func(source string) (string, []string) {
					return executable(t, source), []string{"KUBEBUILDER_ASSETS=" + dir}
				})
			})
			passed := 0
			for spec, r := range results {
				if r.State == "passed" {
					passed++
				}
				assert.False(t, r.Failed(), "%s: %s %s", spec, r.State, r.Message)
			}
			assert.Equal(t, want, passed, "specs that pass")
		})
	}
}

// endLeft ends the processes of the programs in a folder. The suite of pkg/internal/testing/controlplane leaves one: a JustBeforeEach
// prepares a server anew that a BeforeEach has started, so that its Stop stops nothing, of a kube-apiserver too.
func endLeft(t *testing.T, dir string) {
	programs, err := filepath.Glob("/proc/[0-9]*/exe") // none where there is no /proc
	require.NoError(t, err)
	for _, program := range programs {
		target, err := os.Readlink(program)
		if err != nil || filepath.Dir(target) != dir {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(program)))
		require.NoError(t, err)
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Signal(syscall.SIGTERM) // it may have ended by now
		}
	}
}

// executable copies the folder of a package, and makes its scripts executable: in the module cache they are not.
func executable(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	require.NoError(t, os.CopyFS(dir, os.DirFS(source)))
	scripts, err := filepath.Glob(filepath.Join(dir, "testdata", "*.sh"))
	require.NoError(t, err)
	for _, script := range scripts {
		require.NoError(t, os.Chmod(script, 0o755))
	}
	return dir
}

// The oldest version of controller-runtime that is supported, and one in the middle. The suites above have the newest.
func TestProjectPassesWithOldVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds old versions of client-go and controller-runtime")
	}
	dir, err := folder()
	require.NoError(t, err)
	for name, version := range map[string]string{"cr015": "v0.15", "cr020": "v0.20"} {
		t.Run(name, func(t *testing.T) {
			// go test caches a result by the files that the test reads.
			for _, file := range []string{name + ".mod", name + ".sum", "suite_test.go", "testdata/widgets.yaml"} {
				_, err := os.ReadFile(filepath.Join("project", file))
				require.NoError(t, err)
			}
			flags := []string{"-modfile", name + ".mod"}
			list := runGo(t, dir, slices.Concat([]string{"list"}, flags, []string{"-m", "-f", "{{.Version}}", "sigs.k8s.io/controller-runtime"})...)
			assert.Regexp(t, "^"+regexp.QuoteMeta(version)+`\.`, list)
			// Vet would compile all of an old client-go again.
			out := runGo(t, dir, slices.Concat([]string{"test"}, flags, []string{"-vet=off", "-count=1", "-v", "./..."})...)
			for _, part := range []string{"reconciles_and_validates", "has_users_with_rights", "starts_again,_empty"} {
				assert.Contains(t, out, "--- PASS: TestSuite/"+part)
			}
		})
	}
}

// A suite with DownloadBinaryAssets takes the folder of its version in place of a download. The machine here has no kubectl.
func TestDownloadIsNotNeededWhereTheFolderOfTheVersionIs(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "assets")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/kubecoord/kubecoord/httpapi/kube/assets").CombinedOutput()
	require.NoError(t, err, string(out))
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Fail(t, "envtest asks the network", r.URL.String())
		http.NotFound(w, r)
	}))
	defer index.Close()
	cmd := exec.CommandContext(t.Context(), program, filepath.Join(dir, "k8s"), "1.36.3")
	cmd.Env = []string{"PATH="}
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	t.Setenv("KUBEBUILDER_ASSETS", "/none") // is not read
	env := &envtest.Environment{
		DownloadBinaryAssets: true, DownloadBinaryAssetsVersion: "v1.36.3", BinaryAssetsDirectory: filepath.Join(dir, "k8s"),
		DownloadBinaryAssetsIndexURL: index.URL,
	}
	config, err := env.Start()
	require.NoError(t, err)
	defer func() { assert.NoError(t, env.Stop()) }()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	assert.NoError(t, err)
	_, said, err := env.ControlPlane.KubeCtl().Run("version")
	assert.Error(t, err)
	text, err := io.ReadAll(said)
	require.NoError(t, err)
	assert.Contains(t, string(text), "kubectl is not installed on this machine")
}

// runGo runs the go command in the project, as if there were no workspace.
func runGo(t *testing.T, assets string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "project"
	cmd.Env = append(os.Environ(), "GOWORK=off", "KUBEBUILDER_ASSETS="+assets)
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(string(out), "dial tcp") {
		t.Skipf("the modules are not on this machine, and there is no network: %s", out)
	}
	require.NoError(t, err, "go %s:\n%s", strings.Join(args, " "), out)
	return string(out)
}

// BenchmarkStart measures Start and Stop of an Environment without definitions and with 20 of 46 KB each, with the programs of
// KUBEBUILDER_ASSETS, or with ours.
func BenchmarkStart(b *testing.B) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		dir, err := folder()
		require.NoError(b, err)
		b.Setenv("KUBEBUILDER_ASSETS", dir)
	}
	b.Run("definitions=0", func(b *testing.B) { benchmarkStart(b) })
	b.Run("definitions=20", func(b *testing.B) { benchmarkStart(b, definitions(b, 20)) })
}

// definitions returns a directory with n definitions, copies of cert-manager's definition of certificates under other names.
func definitions(b *testing.B, n int) string {
	file, err := os.Open("../../../../../httpapi/kube/crd/testdata/projects/certificates.yaml.gz")
	require.NoError(b, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(b, err)
	text, err := io.ReadAll(unzipped)
	require.NoError(b, err)
	dir := b.TempDir()
	for i := range n {
		name := fmt.Sprintf("definition%d", i)
		own := strings.ReplaceAll(string(text), "cert-manager.io", name+".example.com")
		require.NoError(b, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(own), 0o600))
	}
	return dir
}

func benchmarkStart(b *testing.B, definitions ...string) {
	var started, stopped float64
	for b.Loop() {
		env := &envtest.Environment{CRDDirectoryPaths: definitions}
		start := b.Elapsed()
		_, err := env.Start()
		require.NoError(b, err)
		up := b.Elapsed()
		require.NoError(b, env.Stop())
		started, stopped = started+(up-start).Seconds(), stopped+(b.Elapsed()-up).Seconds()
	}
	b.ReportMetric(1000*started/float64(b.N), "ms-start")
	b.ReportMetric(1000*stopped/float64(b.N), "ms-stop")
}
