package envtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DefaultBinaryAssetsIndexURL has no effect: there is nothing to download. It exists for suites that set it.
var DefaultBinaryAssetsIndexURL = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml"

// SetupEnvtestDefaultBinaryAssetsDirectory returns the directory in which setup-envtest keeps programs. Nothing here needs it.
func SetupEnvtestDefaultBinaryAssetsDirectory() (string, error) {
	base, of := []string{"XDG_DATA_HOME", "HOME"}, "kubebuilder-envtest"
	switch runtime.GOOS {
	case "windows":
		base = []string{"LocalAppData"}
	case "darwin", "ios":
		base, of = []string{"", "HOME"}, "io.kubebuilder.envtest"
	}
	below := []string{"", filepath.Join(".local", "share")}
	if runtime.GOOS == "darwin" {
		below[1] = filepath.Join("Library", "Application Support")
	}
	for i, variable := range base {
		if dir := os.Getenv(variable); variable != "" && dir != "" {
			return filepath.Join(dir, below[i], of, "k8s"), nil
		}
	}
	return "", fmt.Errorf("$%s is not defined", base[len(base)-1])
}
