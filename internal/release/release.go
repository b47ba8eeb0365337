package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// prepared is a release in the repository.
type prepared struct {
	version, branch string
	last            string // the tag that the API was compared with, or ""
	changes         []change
	changelog       string   // CHANGELOG.md with the date
	root, nested    string   // the commits
	tags            []string // of the root first
}

// prepare makes the commits and tags of a version in the repository at dir. With an error it has changed nothing.
func prepare(dir, version string, now time.Time) (*prepared, error) {
	top, err := repository{dir: dir}.git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	r := repository{dir: top}
	all, err := readModules(r)
	if err != nil {
		return nil, err
	}
	p := &prepared{version: version}
	problems := checkVersion(all[0].path(), version)
	for _, check := range []func() error{
		func() error { return p.checkTags(r, all) },
		func() error { return p.checkTree(r) },
		func() error { return p.checkChangelog(r, now) },
		func() error { return errors.Join(checkModules(all)...) },
	} {
		problems = append(problems, check())
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}

	tmp, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	c, err := r.clone(filepath.Join(tmp, "release"))
	if err != nil {
		return nil, err
	}
	if p.last != "" {
		if err := p.checkAPI(r, c, filepath.Join(tmp, "last")); err != nil {
			return nil, err
		}
	}
	if err := p.commit(c); err != nil {
		return nil, err
	}
	return p, p.take(r, c)
}

// checkVersion returns what is wrong with the version of a module.
func checkVersion(path, version string) []error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return []error{fmt.Errorf("%q is no canonical semantic version: write one as v0.1.0 or v0.1.0-rc.1", version)}
	}
	if err := module.Check(path, version); err != nil {
		return []error{fmt.Errorf("%w: from v2 on, the path of each module ends in the major version", err)}
	}
	return nil
}

// checkTags finds the last tag, and refuses a version that is a tag or comes before it.
func (p *prepared) checkTags(r repository, all []*nested) error {
	tags, err := r.lines("tag", "--list")
	if err != nil {
		return err
	}
	var problems []error
	var taken []string
	for _, m := range all {
		if !m.published() {
			continue
		}
		p.tags = append(p.tags, m.tag(p.version))
		if slices.Contains(tags, m.tag(p.version)) {
			taken = append(taken, m.tag(p.version))
		}
	}
	if len(taken) > 0 {
		problems = append(problems, fmt.Errorf("the repository has the tags %s: a version is published once, so choose a later one. Tags that were not pushed go by git tag --delete",
			strings.Join(taken, ", ")))
	}
	before, err := r.lines("tag", "--list", "--merged", "HEAD")
	if err != nil {
		return err
	}
	before = slices.DeleteFunc(before, func(tag string) bool { return !semver.IsValid(tag) || tag == p.version })
	if semver.Sort(before); len(before) > 0 {
		p.last = before[len(before)-1]
	}
	if p.last != "" && semver.IsValid(p.version) && semver.Compare(p.version, p.last) < 0 {
		problems = append(problems, fmt.Errorf("%s comes before %s, which this branch has: choose a later version", p.version, p.last))
	}
	return errors.Join(problems...)
}

// checkTree refuses a work tree that is not the last commit of a branch.
func (p *prepared) checkTree(r repository) error {
	var err error
	if p.branch, err = r.git("symbolic-ref", "--short", "HEAD"); err != nil {
		return errors.New("no branch is checked out: git switch to the one that gets the release")
	}
	changed, err := r.lines("status", "--porcelain")
	if err != nil || len(changed) == 0 {
		return err
	}
	return fmt.Errorf("the work tree is not clean: commit, stash or remove\n\t%s", strings.Join(changed, "\n\t"))
}

// checkChangelog dates the entries of CHANGELOG.md.
func (p *prepared) checkChangelog(r repository, now time.Time) error {
	data, err := os.ReadFile(filepath.Join(r.dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	p.changelog, err = dated(string(data), p.version, now)
	return err
}

// checkAPI compares the API of c with the last tag, which it checks out in a folder. A patch version promises that programs still
// compile, and from v1 on a minor version does too.
func (p *prepared) checkAPI(r, c repository, dir string) error {
	last, err := r.clone(dir)
	if err != nil {
		return err
	}
	commit, err := r.git("rev-parse", p.last+"^{commit}")
	if err != nil {
		return err
	}
	if _, err := last.git("checkout", "--quiet", "--detach", commit); err != nil {
		return err
	}
	if p.changes, err = compare(last, c); err != nil {
		return err
	}
	var broken []string
	for _, ch := range p.changes {
		if !ch.compatible {
			broken = append(broken, ch.text)
		}
	}
	free, next := semver.MajorMinor(p.version) != semver.MajorMinor(p.last), "minor"
	if semver.Major(p.version) != "v0" {
		free, next = semver.Major(p.version) != semver.Major(p.last), "major"
	}
	if free || len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("programs that compile with %s would not compile with %s. Take these changes back, or choose the next %s version:\n\t%s",
		p.last, p.version, next, strings.Join(broken, "\n\t"))
}

// commit makes the two commits in the clone c.
func (p *prepared) commit(c repository) (err error) {
	if err := os.WriteFile(filepath.Join(c.dir, "CHANGELOG.md"), []byte(p.changelog), 0o666); err != nil {
		return err
	}
	if p.root, err = c.commit("CHANGELOG.md: " + p.version); err != nil {
		return err
	}
	all, err := readModules(c)
	if err != nil {
		return err
	}
	for _, m := range all {
		data, err := m.require(all, p.version)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.dir, m.goMod()), data, 0o666); err != nil {
			return err
		}
	}
	order, err := inOrder(all)
	if err != nil {
		return err
	}
	// The hash of a module needs its files in a commit. The commit is amended for each module that gets hashes of others.
	if p.nested, err = c.commit("the modules require each other in " + p.version); err != nil {
		return err
	}
	known := map[string][]string{}
	for _, m := range order {
		var more []string
		for _, o := range m.requires(all) {
			more = append(more, known[o.path()]...)
		}
		if len(more) > 0 {
			if p.nested, err = c.amendSums(m, more); err != nil {
				return err
			}
		}
		if known[m.path()], err = sums(c, p.nested, m, p.version); err != nil {
			return err
		}
	}
	return nil
}

// amendSums adds lines to the go.sum of a module, in the last commit, and returns the commit.
func (r repository) amendSums(m *nested, more []string) (string, error) {
	file := filepath.Join(r.dir, m.dir, "go.sum")
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := os.WriteFile(file, addSums(data, more), 0o666); err != nil {
		return "", err
	}
	if _, err := r.git("add", "--", file); err != nil {
		return "", err
	}
	if _, err := r.git("commit", "--quiet", "--amend", "--no-edit"); err != nil {
		return "", err
	}
	return r.git("rev-parse", "HEAD")
}

// take brings the commits of the clone c into the repository: the first onto its branch, and the tags.
func (p *prepared) take(r, c repository) error {
	for i, tag := range p.tags {
		commit := p.nested
		if i == 0 {
			commit = p.root
		}
		if _, err := c.git("tag", "--annotate", "--message", tag, tag, commit); err != nil {
			return err
		}
	}
	refs := []string{"fetch", "--quiet", "--atomic", "--no-tags", c.dir}
	for _, tag := range p.tags {
		refs = append(refs, "refs/tags/"+tag+":refs/tags/"+tag)
	}
	if _, err := r.git(refs...); err != nil {
		return err
	}
	if _, err := r.git("merge", "--quiet", "--ff-only", p.root); err != nil {
		_, undo := r.git(append([]string{"tag", "--delete"}, p.tags...)...)
		return errors.Join(err, undo)
	}
	return nil
}

// print says what was made, and what to do with it.
func (p *prepared) print(w io.Writer) {
	fmt.Fprintf(w, "%s is prepared. Nothing is pushed.\n\n", p.version)
	fmt.Fprintf(w, "  %.12s  on %s: the date in CHANGELOG.md; tag %s\n", p.root, p.branch, p.tags[0])
	fmt.Fprintf(w, "  %.12s  requirements without replace; tags %s\n\n", p.nested, strings.Join(p.tags[1:], ", "))
	switch {
	case p.last == "":
		fmt.Fprintln(w, "There is no earlier tag: the API was compared with nothing.")
	case len(p.changes) == 0:
		fmt.Fprintf(w, "The API is the same as in %s.\n", p.last)
	default:
		fmt.Fprintf(w, "Changes of the API since %s:\n", p.last)
		for _, c := range p.changes {
			mark := "breaks "
			if c.compatible {
				mark = "adds   "
			}
			fmt.Fprintf(w, "  %s%s\n", mark, c.text)
		}
	}
	fmt.Fprintf(w, "\nPublish it:    git push --atomic origin %s %s\n", p.branch, strings.Join(p.tags, " "))
	fmt.Fprintf(w, "Take it back:  git tag --delete %s && git reset --hard HEAD~1\n", strings.Join(p.tags, " "))
}
