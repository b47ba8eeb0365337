package floors

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

// TestTheTreeNamesOneVersion checks that code, pages and recorded texts name only the version of Kubernetes that the server answers with,
// such as 1.37.2 or 1.37. The recordings are of that version.
func TestTheTreeNamesOneVersion(t *testing.T) {
	root := moduleRoot(t)
	served := strings.TrimPrefix(httpapi.Version, "v")
	minor := served[:strings.LastIndex(served, ".")]
	older := olderVersions()
	for _, name := range texts(t, root) {
		for _, found := range otherVersions(read(t, root, name), served, minor) {
			if found != older[name] && name != "internal/floors/version_test.go" {
				assert.Fail(t, "another version of Kubernetes", "%s: got %q, want %s or %s", name, found, served, minor)
			}
		}
	}
	assert.Contains(t, read(t, root, "CHANGELOG.md"), "Compared with Kubernetes "+served+".")
	assert.Contains(t, read(t, root, "docs/support.md"), "behaves like Kubernetes "+served)
}

// olderVersions has the texts of which an older version is the subject, by file.
func olderVersions() map[string]string {
	const lastWithAlpha1 = "Kubernetes 1.31" // of LeaseCandidate
	return map[string]string{
		"candidate/internal/v1alpha1/types.go": lastWithAlpha1,
		"docs/documents-versus-reality.md":     lastWithAlpha1,
		"httpapi/documents_test.go":            lastWithAlpha1,
		"internal/floors/testdata/claims.txt":  lastWithAlpha1,
		"httpapi/apitest/stale.go":             "Kubernetes 1.32",
	}
}

// texts returns the names of the Go files, pages and recorded texts of all modules.
func texts(t *testing.T, root string) (names []string) {
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if slices.Contains([]string{".go", ".md", ".txt"}, filepath.Ext(path)) && !d.IsDir() {
			name, err := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(name))
			return err
		}
		return nil
	}))
	return names
}

// otherVersions returns the versions of Kubernetes in a text that are not the served one. Versions of Go end before 1.30, and the
// modules of Kubernetes are 0.N.
func otherVersions(text, served, minor string) (others []string) {
	for _, m := range regexp.MustCompile(`\b(?:Kubernetes|kube-apiserver|kube-controller-manager|version) v?(1\.3\d(?:\.\d+)?)\b`).FindAllStringSubmatch(text, -1) {
		if m[1] != served && m[1] != minor {
			others = append(others, m[0])
		}
	}
	return others
}

func TestAnotherVersionIsFound(t *testing.T) {
	assert.Equal(t, []string{"kube-apiserver 1.36", "Kubernetes v1.37.1"}, otherVersions("as kube-apiserver 1.36 and Kubernetes v1.37.1, not Kubernetes 1.37, version 1.37.2", "1.37.2", "1.37"))
}

// TestPagesCountWhatThereIs compares the numbers of exchanges and of specs in the pages with the numbers in the tests.
func TestPagesCountWhatThereIs(t *testing.T) {
	root := moduleRoot(t)
	specs := map[string]string{}
	for _, m := range regexp.MustCompile(`\{"sigs\.k8s\.io/controller-runtime/(pkg/[a-z/]+)", (\d+)\}`).FindAllStringSubmatch(read(t, root, "internal/test/kube/clients/suites/suites_test.go"), -1) {
		specs[m[1]] = m[2]
	}
	require.NotEmpty(t, specs)
	counted := 0
	for _, page := range pages(t, root) {
		text := read(t, root, page)
		for _, m := range regexp.MustCompile(`([\d,]+) recorded exchanges`).FindAllStringSubmatch(text, -1) {
			assert.Equal(t, strconv.Itoa(wiretest.Exchanges), strings.ReplaceAll(m[1], ",", ""), "%s: %s", page, m[0])
			counted++
		}
		for _, m := range regexp.MustCompile("(\\d+) specs of `?(pkg/[a-z/]+)`?").FindAllStringSubmatch(text, -1) {
			assert.Equal(t, specs[m[2]], m[1], "%s: %s", page, m[0])
			counted++
		}
		for _, m := range regexp.MustCompile("\\| `(pkg/[a-z/]+)` \\| (\\d+) \\|").FindAllStringSubmatch(text, -1) {
			assert.Equal(t, specs[m[1]], m[2], "%s: %s", page, m[0])
			counted++
		}
	}
	assert.GreaterOrEqual(t, counted, 4, "the pages have numbers")
}

// read returns the text of a file.
func read(t *testing.T, root, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(data)
}
