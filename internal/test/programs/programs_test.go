// Package programs checks that the command explore finds the mistakes of programs in modules and languages of their own, and nothing in the same programs
// without them.
package programs

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	duration = flag.Duration("programs.for", 0, "how long each program without its mistake is explored, at most; without it the test skips")
	runs     = flag.Int("programs.runs", 0, "how often it is run, at most; 0 is each plan once, and some at random")
)

// within is how long a mistake may take to be found.
const within = 2 * time.Minute

// program is one of the programs.
type program struct {
	name    string
	build   func(t *testing.T) (command []string) // skips the test if something is not installed
	mistake string                                // the value of $MISTAKE
	finding string                                // matches what is found
}

func programs() []program {
	return []program{
		{"go022", manager("go022"), "leak", `configmaps default/shop-\*`},
		{"go024", manager("go024"), "stale", `deployments default/shop\b.* \.spec\.replicas`},
		{"python", python, "1", `^after step 3 "3-delete-shop": (configmaps|deployments) default/shop exists`},
		{"javascript", javascript, "1", `configmaps default/shop has lost the annotation`},
	}
}

// TestPrograms explores each program, with its mistake and without.
func TestPrograms(t *testing.T) {
	if *duration == 0 {
		t.Skip("it takes minutes: -programs.for 2m is how many for each program without its mistake")
	}
	explore := goBuild(t, "../../../httpapi/kube", "./explore")
	for _, p := range programs() {
		t.Run(p.name, func(t *testing.T) {
			command := p.build(t)
			t.Run("wrong", func(t *testing.T) {
				found := search(t, explore, command, p.finding, "-budget", within.String(), "-env", "MISTAKE="+p.mistake)
				matches := regexp.MustCompile(p.finding).MatchString
				for _, f := range found.Findings {
					if matches(f.Text) {
						t.Logf("found after %s by %s, %d of %d times: %s", found.first.Round(time.Second), f.Plans[0], f.Again, f.Of, f.Text)
						return
					}
				}
				t.Errorf("the mistake was not found, but %d others:\n%s", len(found.Findings), found.out)
			})
			t.Run("mended", func(t *testing.T) {
				found := search(t, explore, command, "", "-budget", duration.String(), "-runs", strconv.Itoa(*runs))
				for _, f := range found.Findings {
					t.Errorf("found: %s", f.Report)
				}
			})
		})
	}
}

// result is what the command has found.
type result struct {
	Findings []struct {
		Text, Report string
		Plans        []string
		Again, Of    int
	}
	Requests int
	first    time.Duration // when what was looked for came first
	out      string
}

// search runs the command. The finding that it matches against each one when it comes is looked for.
func search(t *testing.T, explore string, command []string, finding string, flags ...string) *result {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	args := append([]string{"-crds", "crds", "-steps", "steps", "-json", report}, flags...)
	cmd := exec.CommandContext(t.Context(), explore, append(append(args, "--"), command...)...)
	var out strings.Builder
	cmd.Stdout = &out
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, cmd.Start())
	found := &result{}
	looked := regexp.MustCompile(finding)
	var said strings.Builder
	for lines := bufio.NewScanner(io.TeeReader(errs, &said)); lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), "found, to be confirmed: ")
		if ok && found.first == 0 && looked.MatchString(text) {
			found.first = time.Since(began)
		}
	}
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
		t.Fatalf("explore: %v: %s", err, said.String())
	}
	data, err := os.ReadFile(report)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, found))
	found.out = out.String()
	t.Logf("%d requests in an undisturbed run; %s", found.Requests, lastLines(found.out, 2))
	return found
}

// lastLines returns the last lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// goBuild builds a program of a module, by the versions in its own go.mod, and returns its path.
func goBuild(t *testing.T, dir, pkg string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

func manager(dir string) func(t *testing.T) []string {
	return func(t *testing.T) []string { return []string{goBuild(t, dir, ".")} }
}

func python(t *testing.T) []string {
	const python = "/usr/bin/python3" // Debian's
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import kubernetes").CombinedOutput(); err != nil {
		t.Skipf("%s has no Kubernetes client: want Debian's python3-kubernetes: %s", python, lastLines(string(out), 1))
	}
	return []string{python, absolute(t, "python/controller.py")}
}

// javascript puts the controller beside the packages that it imports, outside of the tree.
func javascript(t *testing.T) []string {
	modules := os.Getenv("NODE_MODULES")
	if modules == "" {
		modules = "../../../examples/javascript/node_modules"
	}
	modules = absolute(t, modules)
	if _, err := os.Stat(filepath.Join(modules, "@kubernetes", "client-node")); err != nil {
		t.Skipf("npm's @kubernetes/client-node is not installed: want `npm ci` in examples/javascript, or NODE_MODULES to name another folder: %v", err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node: want version 20 or above")
	}
	dir := t.TempDir()
	source, err := os.ReadFile("javascript/controller.mjs")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "controller.mjs"), source, 0o600))
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	return []string{"node", filepath.Join(dir, "controller.mjs")}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	assert.NotEmpty(t, path)
	return path
}
