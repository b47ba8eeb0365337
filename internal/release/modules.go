package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// nested is a module of the repository.
type nested struct {
	dir  string // below the repository, with slashes; "" for the root
	file *modfile.File
}

func (m *nested) path() string { return m.file.Module.Mod.Path }

// tag returns the name of the tag of a version.
func (m *nested) tag(version string) string { return path.Join(m.dir, version) }

// published reports whether users can take the module.
func (m *nested) published() bool { return !slices.Contains(strings.Split(m.dir, "/"), "internal") }

// stable reports whether users import packages of the module, so that its API is compared. Examples are programs.
func (m *nested) stable() bool {
	return m.published() && !slices.Contains(strings.Split(m.dir, "/"), "examples")
}

func (m *nested) goMod() string { return path.Join(m.dir, "go.mod") }

// readModules returns the modules of a clone, the root first. Modules in folders named testdata are data.
func readModules(r repository) (all []*nested, err error) {
	files, err := r.lines("ls-files", "--", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(name, data, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, &nested{dir: strings.TrimPrefix(path.Dir(name), "."), file: file})
	}
	slices.SortFunc(all, func(a, b *nested) int { return strings.Compare(a.dir, b.dir) })
	if len(all) == 0 || all[0].dir != "" {
		return nil, fmt.Errorf("there is no go.mod in the top folder of the repository")
	}
	return all, nil
}

// requires returns the modules of the repository that m requires.
func (m *nested) requires(all []*nested) (own []*nested) {
	for _, r := range m.file.Require {
		if i := slices.IndexFunc(all, func(o *nested) bool { return o.path() == r.Mod.Path }); i >= 0 {
			own = append(own, all[i])
		}
	}
	return own
}

// checkModules returns what would not hold for the users of the published modules.
func checkModules(all []*nested) (problems []error) {
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, m := range all {
		if want := path.Join(all[0].path(), m.dir); m.path() != want {
			refuse("%s: got module %s, want %s: the go command looks for it there", m.goMod(), m.path(), want)
		}
		if !m.published() {
			continue
		}
		required := m.requires(all)
		for _, r := range m.file.Replace {
			target := slices.IndexFunc(all, func(o *nested) bool { return o.path() == r.Old.Path })
			if target < 0 {
				refuse("%s replaces %s: users of the module would not get that. Require a version that needs no replace", m.goMod(), r.Old.Path)
			} else if !slices.Contains(required, all[target]) {
				refuse("%s replaces %s and does not require it: run go mod tidy there", m.goMod(), r.Old.Path)
			}
		}
		for _, e := range m.file.Exclude {
			refuse("%s excludes %s: go install would refuse the module. Require a later version", m.goMod(), e.Mod)
		}
		for _, o := range required {
			if !o.published() {
				refuse("%s requires %s, which has no tags since it is internal: move what it needs of it", m.goMod(), o.path())
			}
		}
	}
	if _, err := inOrder(all); err != nil {
		problems = append(problems, err)
	}
	return problems
}

// inOrder returns the published modules, each after those that it requires: the go.sum of a module has the hashes of the
// others, and is a part of its own hash.
func inOrder(all []*nested) (order []*nested, err error) {
	left := slices.DeleteFunc(slices.Clone(all), func(m *nested) bool { return !m.published() })
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(m *nested) bool {
			return !slices.ContainsFunc(m.requires(all), func(o *nested) bool { return slices.Contains(left, o) })
		})
		if i < 0 {
			return nil, fmt.Errorf("%s and other modules require each other in a circle: no go.sum can have both hashes. Take one requirement away", left[0].goMod())
		}
		order, left = append(order, left[i]), slices.Delete(left, i, i+1)
	}
	return order, nil
}

// require makes m require the other modules of the repository in a version. A published module gets no replace directive.
func (m *nested) require(all []*nested, version string) ([]byte, error) {
	for _, o := range m.requires(all) {
		if err := m.file.AddRequire(o.path(), version); err != nil {
			return nil, err
		}
		if m.published() {
			for _, r := range slices.Clone(m.file.Replace) {
				if r.Old.Path != o.path() {
					continue
				}
				if err := m.file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
					return nil, err
				}
			}
		}
	}
	m.file.Cleanup()
	return m.file.Format()
}
