//go:build unix

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The kubectls that run the sessions.
const (
	debian  = "1.20"
	current = "current"
)

var variants = []string{debian, current}

// programs is the folder of the kubectl that the tests build.
var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubectl-current-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// buildCurrent builds the kubectl of this module, once.
var buildCurrent = sync.OnceValues(func() (string, error) {
	// Read the sources of the program, so that go test does not use cached
	// results after they change.
	if _, err := os.ReadFile("current/main.go"); err != nil {
		return "", err
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		return "", err
	}
	_, version, found := strings.Cut(string(mod), "k8s.io/kubectl v0.")
	if !found {
		return "", errors.New("../go.mod requires no k8s.io/kubectl v0")
	}
	version, _, _ = strings.Cut(version, "\n")
	// The module v0.37.2 belongs to the release v1.37.2.
	release := "v1." + version
	program := filepath.Join(programs, "kubectl")
	build := exec.Command("go", "build", "-o", program,
		"-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion="+release, "./current")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./current: %w\n%s", err, out)
	}
	return program, nil
})

// errAbsent is the error for a kubectl that is not installed.
var errAbsent = errors.New("no kubectl 1.20: KUBECTL_1_20 is not set, and the PATH has none of that version")

// findDebian looks for Debian's kubectl once.
var findDebian = sync.OnceValues(func() (string, error) {
	program := os.Getenv("KUBECTL_1_20")
	named := program != ""
	if !named {
		var err error
		if program, err = exec.LookPath("kubectl"); err != nil {
			return "", errAbsent
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "version", "--client")
	cmd.Env = []string{"HOME=" + programs, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	switch is := err == nil && strings.Contains(string(out), `GitVersion:"v1.20.`); {
	case is:
		return program, nil
	case named:
		return "", fmt.Errorf("KUBECTL_1_20=%s is not kubectl 1.20: %s", program, out)
	}
	return "", errAbsent
})

// program returns the path of a kubectl. It skips the test if there is none.
func program(t *testing.T, variant string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the sessions are written for GNU sed and grep")
	}
	find := buildCurrent
	if variant == debian {
		find = findDebian
	}
	path, err := find()
	if errors.Is(err, errAbsent) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return path
}

// withEachKubectl runs a test with each kubectl in parallel.
func withEachKubectl(t *testing.T, test func(t *testing.T, variant string)) {
	for _, v := range variants {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			test(t, v)
		})
	}
}
