package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReleaseHasOneCommitOnTheBranchAndOneBesideIt(t *testing.T) {
	r := newRepository(t, small())
	before := r.must(t, "rev-parse", "HEAD")
	p, err := r.release("v0.1.0")
	require.NoError(t, err)

	assert.Equal(t, []string{"v0.1.0", "app/v0.1.0", "kube/v0.1.0"}, p.tags)
	assert.Equal(t, "app/v0.1.0\nkube/v0.1.0\nv0.1.0", r.must(t, "tag", "--list"))
	assert.Equal(t, r.must(t, "rev-parse", "main"), r.must(t, "rev-parse", "v0.1.0^{commit}"))
	assert.Equal(t, before, r.must(t, "rev-parse", "v0.1.0~"))
	assert.Equal(t, "CHANGELOG.md", r.must(t, "diff", "--name-only", before, "v0.1.0"))
	assert.Equal(t, "# Changes\n\n## Unreleased\n\n## v0.1.0, 2026-11-30\n\nThe first version.", r.must(t, "show", "main:CHANGELOG.md"))
	assert.Empty(t, r.must(t, "status", "--porcelain", "--ignored"))

	assert.Equal(t, r.must(t, "rev-parse", "app/v0.1.0^{commit}"), r.must(t, "rev-parse", "kube/v0.1.0^{commit}"))
	assert.Equal(t, r.must(t, "rev-parse", "main"), r.must(t, "rev-parse", "kube/v0.1.0~"))
	assert.Equal(t, "app/go.mod\napp/go.sum\ninternal/test/go.mod\nkube/go.mod\nkube/go.sum", r.must(t, "diff", "--name-only", "v0.1.0", "kube/v0.1.0"))
	assert.Equal(t, "module "+project+"/kube\n\ngo 1.26.0\n\nrequire "+project+" v0.1.0", r.must(t, "show", "kube/v0.1.0:kube/go.mod"))
	assert.Equal(t, "module "+project+"/app\n\ngo 1.26.0\n\nrequire "+project+"/kube v0.1.0\n\nrequire "+project+" v0.1.0 // indirect", r.must(t, "show", "kube/v0.1.0:app/go.mod"))
	assert.Equal(t, "module "+project+"/internal/test\n\ngo 1.26.0\n\nrequire "+project+" v0.1.0\n\nreplace "+project+" => ../../", r.must(t, "show", "kube/v0.1.0:internal/test/go.mod"))
	assert.Equal(t, "Someone <someone@example.com>", r.must(t, "log", "-1", "--format=%an <%ae>", "kube/v0.1.0"))

	var out bytes.Buffer
	p.print(&out)
	assert.Contains(t, out.String(), "There is no earlier tag")
	assert.Contains(t, out.String(), "git push --atomic origin main v0.1.0 app/v0.1.0 kube/v0.1.0\n")
	back := strings.Fields("tag --delete v0.1.0 app/v0.1.0 kube/v0.1.0")
	assert.Contains(t, out.String(), "git "+strings.Join(back, " ")+" && git reset --hard HEAD~1\n")
	r.must(t, back...)
	r.must(t, "reset", "--quiet", "--hard", "HEAD~1")
	assert.Equal(t, before, r.must(t, "rev-parse", "main"))
}

// The go command of a user finds the tags, accepts the hashes and changes nothing.
func TestGoCommandTakesTheTags(t *testing.T) {
	r := newRepository(t, small())
	_, err := r.release("v0.1.0")
	require.NoError(t, err)
	r.change(t, map[string]string{"later.go": "package project\n"})
	env := environment(map[string]string{
		"GOPROXY": "direct", "GOMODCACHE": t.TempDir(), "GIT_ALLOW_PROTOCOL": "file",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url.file://" + r.dir + ".insteadOf", "GIT_CONFIG_VALUE_0": "https://" + project,
	})
	goSum := r.must(t, "show", "app/v0.1.0:app/go.sum")
	for _, path := range []string{project, project + "/kube"} {
		var downloaded struct{ Sum, GoModSum string }
		require.NoError(t, json.Unmarshal([]byte(goCommand(t, r.dir, env, "mod", "download", "-json", path+"@v0.1.0")), &downloaded))
		assert.Contains(t, goSum, path+" v0.1.0 "+downloaded.Sum+"\n"+path+" v0.1.0/go.mod "+downloaded.GoModSum)
	}
	app := filepath.Join(t.TempDir(), "clone")
	r.must(t, "clone", "--quiet", "--branch", "app/v0.1.0", ".", app)
	goCommand(t, filepath.Join(app, "app"), env, "mod", "tidy", "-diff")
	goCommand(t, filepath.Join(app, "kube"), env, "mod", "tidy", "-diff")
	goCommand(t, filepath.Join(app, "internal", "test"), env, "mod", "tidy", "-diff")
	goCommand(t, t.TempDir(), env, "run", project+"/app@v0.1.0")

	// Later commits have later versions.
	assert.Regexp(t, `^`+project+` v0\.1\.1-0\.`, goCommand(t, t.TempDir(), env, "list", "-m", project+"@main"))
}

func TestRefusedReleaseSaysWhatToDoAndChangesNothing(t *testing.T) {
	kube := func(more string) map[string]string {
		return map[string]string{"kube/go.mod": small()["kube/go.mod"] + more}
	}
	for name, row := range map[string]struct {
		version string
		commit  map[string]string
		then    func(*testing.T, repository)
		want    []string
	}{
		"no semantic version":   {version: "0.1.0", want: []string{`"0.1.0" is no canonical semantic version: write one as v0.1.0`}},
		"a short version":       {version: "v0.1", want: []string{`"v0.1" is no canonical semantic version`}},
		"build metadata":        {version: "v0.1.0+linux", want: []string{`"v0.1.0+linux" is no canonical semantic version`}},
		"another major version": {version: "v2.0.0", want: []string{"should be v0 or v1, not v2", "the path of each module ends in the major version"}},
		"a version that is a tag": {then: func(t *testing.T, r repository) { r.must(t, "tag", "v0.1.0") },
			want: []string{"the repository has the tags v0.1.0: a version is published once, so choose a later one. Tags that were not pushed go by git tag --delete"}},
		"a version that a nested module has": {then: func(t *testing.T, r repository) { r.must(t, "tag", "kube/v0.1.0") },
			want: []string{"the repository has the tags kube/v0.1.0: "}},
		"a version before the last one": {then: func(t *testing.T, r repository) { r.must(t, "tag", "v0.10.0"); r.must(t, "tag", "v0.9.0") },
			want: []string{"v0.1.0 comes before v0.10.0, which this branch has"}},
		"a changed file": {then: func(t *testing.T, r repository) { r.write(t, "LICENSE", "none\n") },
			want: []string{"the work tree is not clean: commit, stash or remove\n\t M LICENSE"}},
		"a new file": {then: func(t *testing.T, r repository) { r.write(t, "kube/new.go", "package kube\n") },
			want: []string{"the work tree is not clean", "?? kube/new.go"}},
		"no branch": {then: func(t *testing.T, r repository) { r.must(t, "checkout", "--quiet", "--detach") },
			want: []string{"no branch is checked out: git switch"}},
		"a changelog without a place":  {commit: map[string]string{"CHANGELOG.md": "# Changes\n\n## v0.0.9, 2026-01-01\n\nOld.\n"}, want: []string{`CHANGELOG.md has no line "## Unreleased": add it`}},
		"a changelog without entries":  {commit: map[string]string{"CHANGELOG.md": "# Changes\n\n## Unreleased\n\n## v0.0.9, 2026-01-01\n\nOld.\n"}, want: []string{"CHANGELOG.md has no entries below"}},
		"a replaced library":           {commit: kube("\nreplace example.com/x => ../x\n"), want: []string{"kube/go.mod replaces example.com/x: users of the module would not get that"}},
		"a replace without a require":  {commit: kube("\nreplace " + project + "/app => ../app\n"), want: []string{"kube/go.mod replaces " + project + "/app and does not require it: run go mod tidy there"}},
		"an excluded version":          {commit: kube("\nexclude example.com/x v1.0.0\n"), want: []string{"kube/go.mod excludes example.com/x@v1.0.0: go install would refuse"}},
		"an internal module":           {commit: kube("\nrequire " + project + "/internal/test v0.0.0\n"), want: []string{"kube/go.mod requires " + project + "/internal/test, which has no tags since it is internal"}},
		"a circle":                     {commit: kube("\nrequire " + project + "/app v0.0.0\n"), want: []string{"app/go.mod and other modules require each other in a circle"}},
		"a module with another's path": {commit: map[string]string{"kube/go.mod": "module " + project + "/cube\n\ngo 1.26.0\n"}, want: []string{"kube/go.mod: got module " + project + "/cube, want " + project + "/kube"}},
		"two mistakes": {version: "v1", commit: kube("\nexclude example.com/x v1.0.0\n"), then: func(t *testing.T, r repository) { r.write(t, "new", "text") },
			want: []string{`"v1" is no canonical`, "excludes", "not clean"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t, small())
			if row.commit != nil {
				r.change(t, row.commit)
			}
			if row.then != nil {
				row.then(t, r)
			}
			if row.version == "" {
				row.version = "v0.1.0"
			}
			before := r.state(t)
			_, err := r.release(row.version)
			for _, want := range row.want {
				assert.ErrorContains(t, err, want)
			}
			assert.Equal(t, before, r.state(t))
		})
	}
}

func TestVersionPromisesWhatTheAPIKeeps(t *testing.T) {
	const program = "package main\n\nfunc main() {}\n"
	for name, row := range map[string]struct {
		last, version string
		commit        map[string]string
		printed       []string
		want          []string // of the error
	}{
		"a patch that changes nothing": {"v0.1.0", "v0.1.1", map[string]string{"LICENSE": "others\n"}, []string{"The API is the same as in v0.1.0."}, nil},
		"a patch that adds":            {"v0.1.0", "v0.1.1", map[string]string{"more.go": "package project\n\nconst More = 1\n"}, []string{"adds   " + project + ": More: added"}, nil},
		"a patch that breaks": {"v0.1.0", "v0.1.1", map[string]string{"project.go": "package project\n\nfunc Name(int) string { return \"\" }\n", "kube/kube.go": "package kube\n", "app/main.go": program}, nil,
			[]string{"would not compile with v0.1.1", "choose the next minor version", project + ": Name: changed from func() string to func(int) string", project + "/kube: Name: removed"}},
		"a minor version that breaks": {"v0.1.0", "v0.2.0", map[string]string{"kube/kube.go": "package kube\n", "app/main.go": program}, []string{"breaks " + project + "/kube: Name: removed"}, nil},
		"a minor version of a stable API that breaks": {"v1.1.0", "v1.2.0", map[string]string{"kube/kube.go": "package kube\n", "app/main.go": program}, nil,
			[]string{"choose the next major version", project + "/kube: Name: removed"}},
		"the first stable version":       {"v0.1.0", "v1.0.0", map[string]string{"kube/kube.go": "package kube\n", "app/main.go": program}, []string{"breaks "}, nil},
		"a package that is gone":         {"v0.1.0", "v0.1.1", map[string]string{"more/more.go": ""}, nil, []string{"package " + project + "/more: removed"}},
		"a module that is gone":          {"v0.1.0", "v0.1.1", map[string]string{"app/go.mod": "", "app/main.go": "", "app/lib/lib.go": ""}, nil, []string{"module " + project + "/app: removed"}},
		"a tree that does not compile":   {"v0.1.0", "v0.1.1", map[string]string{"kube/kube.go": "package kube\n"}, nil, []string{"undefined: kube.Name"}},
		"a package of an example":        {"v0.1.0", "v0.1.1", map[string]string{"examples/a/a.go": "package a\n"}, []string{"The API is the same"}, nil},
		"internal packages and programs": {"v0.1.0", "v0.1.1", map[string]string{"internal/a/a.go": "package a\n", "app/main.go": program}, []string{"The API is the same"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			files := small()
			files["more/more.go"] = "package more\n"
			files["internal/a/a.go"] = "package a\n\nconst A = 1\n"
			files["examples/a/go.mod"] = "module " + project + "/examples/a\n\ngo 1.26.0\n"
			files["examples/a/a.go"] = "package a\n\nconst A = 1\n"
			files["app/lib/lib.go"] = "package lib\n"
			r := newRepository(t, files)
			_, err := r.release(row.last)
			require.NoError(t, err)
			row.commit["CHANGELOG.md"] = strings.Replace(r.must(t, "show", "HEAD:CHANGELOG.md")+"\n", unreleased, unreleased+"\n- More.\n", 1)
			r.change(t, row.commit)
			before := r.state(t)

			p, err := r.release(row.version)
			for _, want := range row.want {
				assert.ErrorContains(t, err, want)
			}
			if row.want != nil {
				assert.Equal(t, before, r.state(t))
				return
			}
			require.NoError(t, err)
			var out bytes.Buffer
			p.print(&out)
			for _, want := range row.printed {
				assert.Contains(t, out.String(), want)
			}
			assert.Equal(t, row.last, p.last)
		})
	}
}

func TestSumsAreInTheOrderOfTheGoCommand(t *testing.T) {
	assert.Equal(t, "a v1.9.0 h1:a\na v1.9.0/go.mod h1:a\na v1.10.0 h1:a\nb v0.1.0 h1:b\nc v1.0.0/go.mod h1:c\n",
		string(addSums([]byte("a v1.9.0 h1:a\na v1.10.0 h1:a\nc v1.0.0/go.mod h1:c\n"), []string{"b v0.1.0 h1:b", "a v1.9.0/go.mod h1:a"})))
}
