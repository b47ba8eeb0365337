package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/semver"
)

// TestPageOfVersionsSaysWhatTheModulesRequire compares the table of docs/versions.md with the go.mod files.
func TestPageOfVersionsSaysWhatTheModulesRequire(t *testing.T) {
	top, err := repository{dir: "."}.git("rev-parse", "--show-toplevel")
	if err != nil {
		t.Skip("not a git checkout, such as the module cache of a user")
	}
	all, err := readModules(repository{dir: top})
	require.NoError(t, err)
	minors := func(dir, modules string) (versions []string) {
		t.Helper()
		for _, m := range all {
			if m.dir != dir {
				continue
			}
			for _, r := range m.file.Require {
				if regexp.MustCompile(modules).MatchString(r.Mod.Path) {
					versions = append(versions, strings.TrimPrefix(semver.MajorMinor(r.Mod.Version), "v"))
				}
			}
		}
		require.NotEmpty(t, versions, "%s requires %s", dir, modules)
		return versions
	}
	one := func(versions []string) string {
		t.Helper()
		for _, v := range versions {
			require.Equal(t, versions[0], v)
		}
		return versions[0]
	}
	kubernetes := one(minors("httpapi/kube", `^k8s\.io/(api|apiserver|apiextensions-apiserver|apimachinery|client-go)$`))
	etcd := one(minors("store/etcd", `^go\.etcd\.io/etcd/(server|client)/v3$`))
	runtime := one(minors("examples/kube", `^sigs\.k8s\.io/controller-runtime$`))
	newest := regexp.MustCompile(`(?m)^next=go(1\.\d+)`).FindStringSubmatch(read(t, top, ".ci/run"))
	require.NotNil(t, newest)
	oldest := strings.TrimPrefix(semver.MajorMinor("v"+all[0].file.Go.Version), "v")
	served := regexp.MustCompile(`behaves like Kubernetes (1\.\d+)\.`).FindStringSubmatch(read(t, top, "docs/support.md")) // which internal/floors compares with the code
	require.NotNil(t, served)
	assert.Equal(t, "0."+strings.TrimPrefix(served[1], "1."), kubernetes)

	assert.Contains(t, read(t, top, "docs/versions.md"), "| this one | Kubernetes "+served[1]+" | no `k8s.io` module | `k8s.io/*` "+kubernetes+" | "+runtime+" | etcd "+etcd+" | "+oldest+", "+newest[1]+" |\n")
	assert.NotContains(t, read(t, top, "go.mod"), "\tk8s.io/")
}
