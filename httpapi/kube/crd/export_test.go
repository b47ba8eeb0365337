package crd

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ReadProject returns the definition of a project in testdata.
func ReadProject(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "projects", name+".yaml.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return data
}

// forProjects runs a test with the kind of each project in testdata.
func forProjects(t *testing.T, f func(t *testing.T, k *definedKind)) {
	files, err := filepath.Glob("testdata/projects/*.yaml.gz")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml.gz")
		t.Run(name, func(t *testing.T) {
			crds, err := parse(ReadProject(t, name))
			require.NoError(t, err)
			k, err := made().kindFor(crds[0], false)
			require.NoError(t, err)
			f(t, k)
		})
	}
}

// Forget makes the next definitions be read as in a new process.
func Forget() {
	m := made()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kinds = nil
}

// Remembered returns how many kinds, and how many definitions that were installed, are remembered.
func Remembered() (kinds, installed int) {
	m := made()
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.kinds), len(m.installed)
}
