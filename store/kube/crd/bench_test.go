package crd_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/kube/crd"
)

// twenty is a directory with twenty definitions of real projects: the ones in testdata under more names.
func twenty(t testing.TB) fs.FS {
	dir := fstest.MapFS{}
	for _, name := range []string{"certificates", "httproutes", "machinedeployments", "machinehealthchecks", "rollouts", "prometheuses", "jobsets"} {
		dir[name+".yaml"] = &fstest.MapFile{Data: []byte(project(t, name))}
	}
	return dir
}

// BenchmarkRead is the first start of a process that has these definitions: nothing is remembered.
func BenchmarkRead(b *testing.B) {
	dir := twenty(b)
	for b.Loop() {
		crd.Forget()
		_, err := crd.Read(dir)
		require.NoError(b, err)
	}
}
