package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersionsAreSetInAModule(t *testing.T) {
	const before = "require (\n\tk8s.io/component-base v0.37.2\n\tk8s.io/kubernetes v1.37.2\n\tk8s.io/klog/v2 v2.140.0\n)\nreplace k8s.io/api => k8s.io/api v0.37.2\n"
	from, err := required(before)
	require.NoError(t, err)
	to, err := parseVersion("1.38.0-beta.0")
	require.NoError(t, err)
	assert.Equal(t, []string{"k8s.io/component-base@v0.38.0-beta.0", "k8s.io/kubernetes@v1.38.0-beta.0"}, to.modules(to.set(before, from)))
	assert.Equal(t, "require (\n\tk8s.io/component-base v0.38.0-beta.0\n\tk8s.io/kubernetes v1.38.0-beta.0\n\tk8s.io/klog/v2 v2.140.0\n)\nreplace k8s.io/api => k8s.io/api v0.38.0-beta.0\n",
		to.set(before, from))
	for _, bad := range []string{"", "1.38", "2.0.0", "1.38.0-beta", "1.38.0/../x", "v1.38.0 "} {
		_, err := parseVersion(bad)
		assert.ErrorContains(t, err, "want one such as 1.38.0", bad)
	}
	_, err = required("module a\n")
	assert.ErrorContains(t, err, "does not require k8s.io/kubernetes")
}

func TestModulesThatCannotBeHadAreNamedOnce(t *testing.T) {
	const output = `go mod tidy k8s.io/y@v0.38.0: exit status 1
go: a imports
	k8s.io/x: k8s.io/x@v0.38.0-beta.0: reading http://proxy/k8s.io/x/@v/v0.38.0-beta.0.zip: 403 Forbidden
	k8s.io/x/y: k8s.io/x@v0.38.0-beta.0: reading http://proxy/k8s.io/x/@v/v0.38.0-beta.0.zip: 403 Forbidden
go: k8s.io/kubernetes@v1.99.0: reading http://proxy/k8s.io/kubernetes/@v/v1.99.0.mod: 404 Not Found
go: k8s.io/component-base@v0.99.0 requires go >= 1.99.0 (running go 1.26.8; GOTOOLCHAIN=local)`
	err := undownloaded(errors.New(output))
	assert.Equal(t, 1, strings.Count(err.Error(), "k8s.io/x@v0.38.0-beta.0: 403 Forbidden"))
	assert.Contains(t, err.Error(), "k8s.io/kubernetes@v1.99.0: 404 Not Found")
	assert.Contains(t, err.Error(), "k8s.io/component-base@v0.99.0: requires go >= 1.99.0")
	assert.NotContains(t, err.Error(), "k8s.io/y@v0.38.0")
	other := errors.New("a compile error")
	assert.Equal(t, other, undownloaded(other))
}

// The module cache stands in for a proxy that serves nothing.
func TestAVersionThatCannotBeDownloadedChangesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOTOOLCHAIN", "local")
	module := filepath.Join("..", "kube-apiserver", "go.mod")
	before, err := os.ReadFile(module)
	require.NoError(t, err)
	binary, err := os.Executable()
	require.NoError(t, err)
	err = run(t.Context(), io.Discard, "1.99.0", binary, "")
	assert.ErrorContains(t, err, "nothing has changed")
	assert.ErrorContains(t, err, "k8s.io/kubernetes@v1.99.0")
	after, err := os.ReadFile(module)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	left, err := filepath.Glob(filepath.Join(temp, "upgrade-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestDifferencesAreOrderedByName(t *testing.T) {
	assert.Equal(t, []string{"~ a: on BETA -> off BETA", "- b: off ALPHA", "+ c: on GA"},
		differences(map[string]string{"a": "on BETA", "b": "off ALPHA", "d": ""}, map[string]string{"a": "off BETA", "c": "on GA", "d": ""}))
	long := strings.Repeat("x", 500)
	a, b := apart(long+"1", long+"2")
	assert.Equal(t, []string{strings.Repeat("x", 20) + "1", strings.Repeat("x", 20) + "2"}, []string{a, b})
	assert.Len(t, short(long), 120+len("…"))
}
