package floors

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

// TestPagesNameTheServedVersion checks that pages name only the version of Kubernetes that the server answers with, such as 1.37.2 or
// 1.37. Only the page about the recordings names the version of the recorded server.
func TestPagesNameTheServedVersion(t *testing.T) {
	root := moduleRoot(t)
	served := strings.TrimPrefix(httpapi.Version, "v")
	minor := served[:strings.LastIndex(served, ".")]
	for _, page := range pages(t, root) {
		for _, found := range otherVersions(read(t, root, page), served, minor) {
			if found == "Kubernetes 1.31" && page == "docs/documents-versus-reality.md" {
				continue // the last one that serves v1alpha1 of LeaseCandidate
			}
			assert.Fail(t, "another version of Kubernetes", "%s: got %q, want %s or %s", page, found, served, minor)
		}
	}
	assert.Contains(t, read(t, root, "CHANGELOG.md"), "Compared with Kubernetes "+served+".")
	assert.Contains(t, read(t, root, "docs/support.md"), "behaves like Kubernetes "+served)
	recordings := read(t, root, "internal/test/kinds/README.md")
	assert.Len(t, regexp.MustCompile(`kube-apiserver (1\.\d+\.\d+)`).FindAllString(recordings, -1), 1, "the recorded version, once")
	for _, other := range []string{"internal/test/cluster/README.md", "internal/test/cluster/reasons.txt", "internal/test/cluster/differences.md"} {
		assert.NotRegexp(t, `kube-[a-z-]+ 1\.\d+\.\d+`, read(t, root, other), other)
	}
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
	for _, m := range regexp.MustCompile(`\{"sigs\.k8s\.io/controller-runtime/(pkg/[a-z/]+)", (\d+)\}`).FindAllStringSubmatch(read(t, root, "internal/test/clients/suites/suites_test.go"), -1) {
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
	assert.Greater(t, counted, 10, "the pages have numbers")
}

// read returns the text of a file.
func read(t *testing.T, root, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(data)
}
