package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFolderOfAVersionIsNamedAsEnvtestNamesIt(t *testing.T) {
	platform := "-" + runtime.GOOS + "-" + runtime.GOARCH
	for _, row := range []struct {
		args      []string
		want, err string
	}{
		{[]string{"bin/assets"}, "bin/assets", ""},
		{[]string{"bin/k8s", "1.36.3"}, filepath.Join("bin", "k8s", "1.36.3"+platform), ""},
		{[]string{"bin/k8s", "v1.36.3"}, filepath.Join("bin", "k8s", "1.36.3"+platform), ""},
		{[]string{"bin/k8s", "1.37.0-rc.1"}, filepath.Join("bin", "k8s", "1.37.0-rc.1"+platform), ""},
		{nil, "", "got 0 arguments, want a folder"},
		{[]string{"a", "1.36.3", "b"}, "", "got 3 arguments, want a folder"},
		{[]string{""}, "", `got "", want a folder`},
		{[]string{"-h"}, "", `got "-h", want a folder`},
		{[]string{"bin/k8s", "1.36"}, "", `got version "1.36", want one with three numbers, as 1.36.3: of others envtest asks the network which they are`},
		{[]string{"bin/k8s", "../1.36.3"}, "", `got version "../1.36.3", want one with three numbers, as 1.36.3: of others envtest asks the network which they are`},
	} {
		got, err := folder(row.args)
		assert.Equal(t, row.want, got, row.args)
		if row.err == "" {
			assert.NoError(t, err, row.args)
		} else {
			assert.EqualError(t, err, row.err)
		}
	}
}

func TestOtherProgramsAreNotReplaced(t *testing.T) {
	for _, name := range []string{"kube-apiserver", "etcd"} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte("a real one"), 0o755))
		assert.EqualError(t, makeFolder(dir, &bytes.Buffer{}, &bytes.Buffer{}), file+" is another program: name another folder, or remove it")
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Len(t, entries, 1)
	}
}

func TestFolderHasTheKubectlOfTheMachineOrSaysThatThereIsNone(t *testing.T) {
	dir, machine := t.TempDir(), t.TempDir()
	kubectl := filepath.Join(dir, "kubectl")
	makeIt := func(path string) (notes string) {
		t.Helper()
		t.Setenv("PATH", path)
		var said bytes.Buffer
		require.NoError(t, makeFolder(dir, &bytes.Buffer{}, &said))
		return said.String()
	}
	require.NoError(t, os.Symlink(filepath.Join(machine, "gone"), kubectl))
	for _, path := range []string{"", dir} { // the folder may be in PATH
		assert.Equal(t, "kubectl is not installed: a suite that calls kubectl needs one as "+kubectl+"\n", makeIt(path))
		out, err := exec.Command(kubectl, "get", "pods").CombinedOutput()
		assert.ErrorContains(t, err, "exit status 1")
		assert.Equal(t, "kubectl is not installed on this machine, and "+kubectl+" only says so: install it, and make the folder again\n", string(out))
	}

	installed := filepath.Join(machine, "kubectl")
	require.NoError(t, os.WriteFile(installed, []byte("#!/bin/sh\n"), 0o755))
	for range 2 {
		assert.Empty(t, makeIt(machine))
		to, err := os.Readlink(kubectl)
		require.NoError(t, err)
		assert.Equal(t, installed, to)
	}

	require.NoError(t, os.Remove(kubectl))
	require.NoError(t, os.WriteFile(kubectl, []byte("the user's"), 0o755))
	assert.Empty(t, makeIt(machine))
	text, err := os.ReadFile(kubectl)
	require.NoError(t, err)
	assert.Equal(t, "the user's", string(text))
}
