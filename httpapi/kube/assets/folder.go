package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// folder returns the folder that the arguments name. The folder of a version is named as envtest names it (upstream:
// controller-runtime, envtest/binaries.go, downloadBinaryAssets).
func folder(args []string) (string, error) {
	switch {
	case len(args) == 0 || len(args) > 2:
		return "", fmt.Errorf("got %d arguments, want a folder", len(args))
	case args[0] == "" || strings.HasPrefix(args[0], "-"):
		return "", fmt.Errorf("got %q, want a folder", args[0])
	case len(args) == 1:
		return args[0], nil
	}
	v, err := version.ParseSemantic(args[1])
	if err != nil {
		return "", fmt.Errorf("got version %q, want one with three numbers, as 1.36.3: of others envtest asks the network which they are", args[1])
	}
	return filepath.Join(args[0], fmt.Sprintf("%s-%s-%s", v, runtime.GOOS, runtime.GOARCH)), nil
}

// makeFolder writes this program to a folder under the names that envtest looks for, and prints the folder's path. Files of
// these names that a former call made are replaced: a server that runs keeps the old one. Other programs are not.
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
	for _, file := range []string{server, etcd} {
		if exists(file) && !isOwn(file) {
			return fmt.Errorf("%s is another program: name another folder, or remove it", file)
		}
	}
	if err := copyProgram(self, server); err != nil {
		return err
	}
	if err := linkProgram(server, etcd); err != nil {
		return err
	}
	if err := linkKubectl(server, filepath.Join(dir, "kubectl"+suffix), notes); err != nil {
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

// linkKubectl links to the kubectl of the machine, or to this program, unless the folder has another one. envtest starts kubectl only
// for suites that call it, but downloads all programs if it is not there.
func linkKubectl(self, to string, notes io.Writer) error {
	if exists(to) && !isOwn(to) {
		return nil
	}
	from, err := exec.LookPath("kubectl")
	if err != nil || isOwn(from) {
		fmt.Fprintf(notes, "kubectl is not installed: a suite that calls kubectl needs one as %s\n", to)
		return linkProgram(self, to)
	}
	if from, err = filepath.Abs(from); err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(from, to)
}

// exists reports whether a file, or the file that a link leads to, is there.
func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// isOwn reports whether a file is this command, of any version.
func isOwn(file string) bool {
	theirs, err := buildinfo.ReadFile(file)
	ours, ok := debug.ReadBuildInfo()
	return err == nil && ok && theirs.Path == ours.Path
}
