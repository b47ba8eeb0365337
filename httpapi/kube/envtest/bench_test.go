package envtest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"compress/gzip"
	"io"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

// BenchmarkStart starts an environment with client-go's kinds and 20 definitions of 46 KB each, and stops it. ms-first is the first
// start in the process, in process; what the process keeps of it is not measured again.
func BenchmarkStart(b *testing.B) {
	dir := definitions(b, 20)
	start := func(inProcess bool) {
		env := &envtest.Environment{CRDDirectoryPaths: []string{dir}, InProcess: inProcess}
		_, err := env.Start()
		require.NoError(b, err)
		require.NoError(b, env.Stop())
	}
	before := b.Elapsed()
	start(true)
	first := b.Elapsed() - before
	for _, inProcess := range []bool{true, false} {
		b.Run(fmt.Sprint("inProcess=", inProcess), func(b *testing.B) {
			for b.Loop() {
				start(inProcess)
			}
			b.ReportMetric(float64(first.Microseconds())/1000, "ms-first")
		})
	}
}

// definitions returns a directory with n definitions, copies of cert-manager's definition of certificates under other names.
func definitions(t testing.TB, n int) string {
	file, err := os.Open("../crd/testdata/projects/certificates.yaml.gz")
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	dir := t.TempDir()
	for i := range n {
		name := fmt.Sprintf("definition%d", i)
		own := bytes.ReplaceAll(text, []byte("cert-manager.io"), []byte(name+".example.com"))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), own, 0o600))
	}
	return dir
}
