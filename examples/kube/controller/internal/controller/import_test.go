package controller_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The import line that a suite of controller-runtime has, and the one here.
const (
	theirs = `"sigs.k8s.io/controller-runtime/pkg/envtest"`
	ours   = `"github.com/kubecoord/kubecoord/httpapi/kube/envtest"`
)

// TestSuiteIsOneImportLineFromEnvtest builds the suite with the other import line. With KUBEBUILDER_ASSETS, the folder of
// a kube-apiserver and an etcd, it also runs.
func TestSuiteIsOneImportLineFromEnvtest(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file, dir := filepath.Join(here, "suite_test.go"), t.TempDir()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), ours); n != 1 {
		t.Fatalf("suite_test.go: got the import line %d times, want it once", n)
	}
	swapped, overlay := filepath.Join(dir, "suite_test.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: swapped}})
	for _, err := range []error{
		err,
		os.WriteFile(swapped, []byte(strings.Replace(string(source), ours, theirs, 1)), 0o600),
		os.WriteFile(overlay, replace, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"vet", "-overlay", overlay, "."}
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		args = []string{"test", "-count=1", "-v", "-overlay", overlay, "-run", "TestWebsites", "-bench", ".", "-benchtime", "20x", "."}
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, out)
	}
	t.Logf("%s", out)
}
