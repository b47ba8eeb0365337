package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The modules of the small repository of these tests.
const project = "github.com/example/project"

// small returns the files of a repository with modules that require each other, as this repository has them.
func small() map[string]string {
	return map[string]string{
		"LICENSE":      "all rights\n",
		"CHANGELOG.md": "# Changes\n\n## Unreleased\n\nThe first version.\n",
		"go.mod":       "module " + project + "\n\ngo 1.26.0\n",
		"project.go":   "package project\n\nfunc Name() string { return \"\" }\n",
		"kube/go.mod":  "module " + project + "/kube\n\ngo 1.26.0\n\nrequire " + project + " v0.0.0\n\nreplace " + project + " => ../\n",
		"kube/kube.go": "package kube\n\nimport \"" + project + "\"\n\nvar Name = project.Name()\n",
		"app/go.mod": "module " + project + "/app\n\ngo 1.26.0\n\nrequire " + project + "/kube v0.0.0\n\nrequire " + project + " v0.0.0 // indirect\n\n" +
			"replace (\n\t" + project + " => ../\n\t" + project + "/kube => ../kube\n)\n",
		"app/main.go":          "package main\n\nimport \"" + project + "/kube\"\n\nfunc main() { println(kube.Name) }\n",
		"internal/test/go.mod": "module " + project + "/internal/test\n\ngo 1.26.0\n\nrequire " + project + " v0.0.0\n\nreplace " + project + " => ../../\n",
		"internal/test/doc.go": "package test\n\nimport _ \"" + project + "\"\n",
	}
}

// newRepository commits files in a new repository.
func newRepository(t *testing.T, files map[string]string) repository {
	t.Helper()
	r := repository{dir: t.TempDir()}
	r.must(t, "init", "--quiet", "--initial-branch=main")
	r.must(t, "config", "user.name", "Someone")
	r.must(t, "config", "user.email", "someone@example.com")
	r.change(t, files)
	return r
}

// change writes files and commits them. A file without text is removed.
func (r repository) change(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		r.write(t, name, text)
	}
	r.must(t, "add", "--all")
	r.must(t, "commit", "--quiet", "--message", "a change")
}

func (r repository) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(r.dir, name)
	if text == "" {
		require.NoError(t, os.Remove(file))
		return
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
}

// must returns the output of a git command that succeeds.
func (r repository) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.git(args...)
	require.NoError(t, err)
	return out
}

// state describes all that a release could change.
func (r repository) state(t *testing.T) string {
	t.Helper()
	head, _ := r.git("symbolic-ref", "HEAD")
	return strings.Join([]string{r.must(t, "for-each-ref"), head, r.must(t, "rev-parse", "HEAD"), r.must(t, "status", "--porcelain", "--ignored")}, "\n")
}

// release prepares a version on a fixed day.
func (r repository) release(version string) (*prepared, error) {
	return prepare(r.dir, version, time.Date(2026, 12, 1, 0, 30, 0, 0, time.FixedZone("east", 3600)))
}

// environment returns the environment of the go command of a user, who has no workspace.
func environment(more map[string]string) []string {
	all := map[string]string{"GOWORK": "off", "GOSUMDB": "off", "GOFLAGS": "-modcacherw -buildvcs=false"}
	maps.Copy(all, more)
	env := os.Environ()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		env = append(env, key+"="+all[key])
	}
	return env
}

// goCommand returns the output of a go command that succeeds.
func goCommand(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	return run(t, dir, env, "go", args...)
}

// run returns the output of a command that succeeds.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), out)
	return string(out)
}
