package crd_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/kube/crd"
)

// projects is a directory with the definitions of the projects in testdata.
func projects(t testing.TB) fs.FS {
	dir := fstest.MapFS{}
	for _, name := range []string{"certificates", "httproutes", "machinedeployments", "machinehealthchecks", "rollouts", "prometheuses", "jobsets"} {
		dir[name+".yaml"] = &fstest.MapFile{Data: crd.ReadProject(t, name)}
	}
	return dir
}

// BenchmarkRead is the first start of a process that has these definitions: nothing is remembered.
func BenchmarkRead(b *testing.B) {
	dir := projects(b)
	for b.Loop() {
		crd.Forget()
		_, err := crd.Read(dir)
		require.NoError(b, err)
	}
}
