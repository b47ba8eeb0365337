package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// makeFolder writes this program to a folder under the names that envtest looks for, and prints the folder's path. Files of
// these names that a former call made are replaced: a server that runs keeps the old one.
func makeFolder(dir string, out, notes io.Writer) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	server, etcd := filepath.Join(dir, "kube-apiserver"+suffix), filepath.Join(dir, "etcd"+suffix)
	if err := copyProgram(self, server); err != nil {
		return err
	}
	if err := linkProgram(server, etcd); err != nil {
		return err
	}
	if err := linkKubectl(filepath.Join(dir, "kubectl"+suffix), notes); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, dir)
	return err
}

// copyProgram replaces a file by a copy of a program, at once: another process may start it at any time.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	tmp, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename
	_, err = io.Copy(tmp, in)
	if err = errors.Join(err, tmp.Chmod(0o755), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}

// linkProgram gives a program a second name, or copies it where the file system has no hard links.
func linkProgram(from, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	return copyProgram(from, to)
}

// linkKubectl links to the kubectl of the machine, unless the folder has one. envtest starts kubectl only for suites that call it.
func linkKubectl(to string, notes io.Writer) error {
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	from, err := exec.LookPath("kubectl")
	if err != nil {
		fmt.Fprintf(notes, "kubectl is not installed: a suite that calls kubectl needs one as %s\n", to)
		return nil
	}
	if from, err = filepath.Abs(from); err != nil {
		return err
	}
	return os.Symlink(from, to)
}
