package main

import (
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
)

var users = flag.Bool("users", false, "publish this tree into a folder, and do what users of its modules do: minutes")

// TestUsersTakeTheModules prepares a release of this tree and publishes it into the folder of a file proxy, which is the only source
// of the modules. All other modules come from the module cache, so the tests of the tree must have run once.
func TestUsersTakeTheModules(t *testing.T) {
	if !*users {
		t.Skip("only with the flag -users: go test ./internal/release -users")
	}
	version := fmt.Sprintf("v0.1.0-users.%d", time.Now().UnixNano()) // one that no module cache has
	r := thisTree(t)
	p, err := r.release(version)
	require.NoError(t, err)
	proxy, paths := publish(t, r, p)
	cache := strings.TrimSpace(goCommand(t, r.dir, os.Environ(), "env", "GOMODCACHE"))
	t.Cleanup(func() { forget(t, cache, paths, version) })
	env := environment(map[string]string{"GOPROXY": fileURL(proxy), "GOBIN": filepath.Join(t.TempDir(), "bin")})
	const root = "github.com/kubecoord/kubecoord"

	// The modules that are taken as libraries, in a module of one's own.
	for folder, path := range map[string]string{"leases": root, "controller": root + "/httpapi/kube", "durable": root + "/store/etcd"} {
		t.Run(folder, func(t *testing.T) {
			dir := t.TempDir()
			goCommand(t, dir, env, "mod", "init", "example.com/mine")
			goCommand(t, dir, env, "get", path+"@"+version)
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "users", folder))))
			goCommand(t, dir, env, "mod", "tidy")
			assert.Contains(t, goCommand(t, dir, env, "test", "-vet=off", "-v", "./..."), "--- PASS: Test")
			assert.NotContains(t, read(t, dir, "go.mod"), "replace")
		})
	}

	both := fileURL(proxy) + "," + strings.TrimSpace(goCommand(t, r.dir, os.Environ(), "env", "GOPROXY"))
	testModules(t, read(t, r.dir, "docs/versions.md"), map[string]string{"GOPROXY": both}, func(block string) string {
		return strings.Replace(block, "httpapi/kube\n", "httpapi/kube@"+version+"\n", 1)
	})

	// The programs, which take no part in the module of the folder where they are called.
	t.Run("assets", func(t *testing.T) {
		dir := t.TempDir()
		const mine = "module example.com/mine\n\ngo 1.26.0\n\nrequire k8s.io/client-go v0.31.14\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mine), 0o666))
		out := goCommand(t, dir, env, "run", root+"/httpapi/kube/assets@"+version, "bin/assets")
		assets := filepath.Join(dir, "bin", "assets")
		assert.Contains(t, out, assets+"\n")
		assert.Contains(t, run(t, dir, env, filepath.Join(assets, "kube-apiserver"), "--version"), "Kubernetes v1.")
		assert.FileExists(t, filepath.Join(assets, "etcd"))
		assert.Equal(t, mine, read(t, dir, "go.mod"))
	})
	t.Run("contend", func(t *testing.T) {
		dir := t.TempDir()
		goCommand(t, dir, env, "install", root+"/examples/contend@"+version)
		assert.Contains(t, run(t, dir, env, filepath.Join(goEnv(env, "GOBIN"), "contend"), "-h"), "usage: contend")
	})

	// The commit of the nested modules, without a workspace and with it.
	t.Run("commit", func(t *testing.T) {
		clone := filepath.Join(t.TempDir(), "clone")
		r.must(t, "clone", "--quiet", "--branch", "httpapi/kube/"+version, ".", clone)
		all, err := readModules(repository{dir: clone})
		require.NoError(t, err)
		for _, m := range all {
			if m.published() {
				goCommand(t, filepath.Join(clone, m.dir), env, "mod", "tidy", "-diff")
			}
		}
		goCommand(t, clone, append(env, "GOWORK="+filepath.Join(clone, "go.work")), "list", "-deps", "-test", "work")
	})
}

// TestUsersTakeAClone runs the commands for a clone in docs/versions.md, and the ones for a test module. Nothing is published.
func TestUsersTakeAClone(t *testing.T) {
	if !*users {
		t.Skip("only with the flag -users: go test ./internal/release -users")
	}
	r := thisTree(t)
	clone := strings.NewReplacer("../../kubecoord", r.dir, "../kubecoord", r.dir)
	page := read(t, r.dir, "docs/versions.md")
	instead := commands(page, "go mod edit -replace github.com/kubecoord/kubecoord=../../kubecoord ")
	testModules(t, page, nil, func(block string) string {
		return strings.Replace(block, "go get github.com/kubecoord/kubecoord/httpapi/kube\n", clone.Replace(instead), 1)
	})

	t.Run("without a test module", func(t *testing.T) {
		dir, env := t.TempDir(), environment(map[string]string{"GOPROXY": "off"})
		goCommand(t, dir, env, "mod", "init", "example.com/mine")
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "users", "controller"))))
		_, block, found := strings.Cut(commands(page, "git clone "), "\n") // the clone is r.dir
		require.True(t, found)
		run(t, dir, env, "sh", "-ec", clone.Replace(block))
		assert.FileExists(t, filepath.Join(dir, "bin", "assets", "kube-apiserver"))
	})
}

// A project on an older version, and a test of it.
const (
	mineGo = `package mine

import (
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

func Manager(c *rest.Config) (ctrl.Manager, error) { return ctrl.NewManager(c, ctrl.Options{}) }
`
	mineTest = `package kubetest

import (
	"testing"

	"example.com/mine"
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

func TestManager(t *testing.T) {
	env := &envtest.Environment{InProcess: true, TB: t}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Manager(config); err != nil {
		t.Fatal(err)
	}
}
`
)

// testModules takes the commands of the page for a test module, changes them by edit, and runs them in projects that require an older
// controller-runtime than our modules. Modules that are not ours are downloaded as usual.
func testModules(t *testing.T, page string, more map[string]string, edit func(block string) string) {
	all := map[string]string{"GOFLAGS": "-modcacherw -buildvcs=false -vet=off"} // as the other tests here, whose packages go test has then compiled
	maps.Copy(all, more)
	env := environment(all)
	for _, version := range []string{"v0.22.4", "v0.23.3"} {
		t.Run("controller-runtime "+version, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
			}
			write("go.mod", "module example.com/mine\n\ngo 1.26.0\n")
			write("mine.go", mineGo)
			goCommand(t, dir, env, "get", "sigs.k8s.io/controller-runtime@"+version)
			goCommand(t, dir, env, "mod", "tidy")
			write("kubetest/kubetest_test.go", mineTest)
			mine := read(t, dir, "go.mod")
			assert.Contains(t, run(t, dir, env, "sh", "-ec", edit(commands(page, "cd kubetest"))), "ok  \texample.com/mine/kubetest")
			assert.Equal(t, mine, read(t, dir, "go.mod"), "production stays on its version")
			assert.Contains(t, mine, "sigs.k8s.io/controller-runtime "+version)
		})
	}
}

// commands returns the block of commands of a page that begins with a text.
func commands(page, begin string) string {
	_, block, _ := strings.Cut(page, "```\n"+begin)
	block, _, _ = strings.Cut(block, "```")
	return begin + block
}

// thisTree returns a repository with the files of the work tree, committed or not.
func thisTree(t *testing.T) repository {
	t.Helper()
	top, err := repository{dir: "."}.git("rev-parse", "--show-toplevel")
	if err != nil {
		t.Skip("not a git checkout, such as the module cache of a user")
	}
	names := strings.Split(repository{dir: top}.must(t, "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00")
	files := map[string]string{}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(top, name)); name != "" && err == nil {
			files[name] = read(t, top, name)
		}
	}
	return newRepository(t, files)
}

// publish writes the modules of a release into the folder of a proxy, and returns it with the paths of the modules.
func publish(t *testing.T, r repository, p *prepared) (proxy string, paths []string) {
	t.Helper()
	proxy = t.TempDir()
	all, err := readModules(r)
	require.NoError(t, err)
	for _, m := range all {
		if !m.published() {
			continue
		}
		escaped, err := module.EscapePath(m.path())
		require.NoError(t, err)
		dir := filepath.Join(proxy, escaped, "@v")
		require.NoError(t, os.MkdirAll(dir, 0o777))
		tag := m.tag(p.version)
		commit := r.must(t, "rev-parse", tag+"^{commit}")
		file := filepath.Join(dir, p.version)
		require.NoError(t, pack(r, commit, m, p.version, file+".zip"))
		require.NoError(t, os.WriteFile(file+".mod", []byte(r.must(t, "show", tag+":"+m.goMod())+"\n"), 0o666))
		require.NoError(t, os.WriteFile(file+".info", []byte(`{"Version":"`+p.version+`"}`), 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "list"), []byte(p.version+"\n"), 0o666))
		paths = append(paths, m.path())
	}
	return proxy, paths
}

// forget removes a version of modules from the module cache.
func forget(t *testing.T, cache string, paths []string, version string) {
	for _, path := range paths {
		escaped, err := module.EscapePath(path)
		require.NoError(t, err)
		assert.NoError(t, os.RemoveAll(filepath.Join(cache, escaped+"@"+version)))
		downloaded, err := filepath.Glob(filepath.Join(cache, "cache", "download", escaped, "@v", version+".*"))
		require.NoError(t, err)
		// The go command makes list again from the other files.
		for _, file := range append(downloaded, filepath.Join(cache, "cache", "download", escaped, "@v", "list")) {
			if _, err := os.Stat(file); err != nil {
				continue
			}
			assert.NoError(t, os.Remove(file))
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}

// goEnv returns a variable of an environment.
func goEnv(env []string, key string) (value string) {
	for _, line := range env {
		if v, ok := strings.CutPrefix(line, key+"="); ok {
			value = v
		}
	}
	return value
}

// fileURL returns the URL of a folder.
func fileURL(dir string) string {
	path := filepath.ToSlash(dir)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
