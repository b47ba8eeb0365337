package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
)

// change is a difference between the API of the last tag and the API of this tree.
type change struct {
	text       string
	compatible bool
}

// compare returns the changes of the API of the modules that users import.
func compare(from, to repository) (changes []change, err error) {
	was, err := readModules(from)
	if err != nil {
		return nil, err
	}
	is, err := readModules(to)
	if err != nil {
		return nil, err
	}
	for _, m := range was {
		if !m.stable() {
			continue
		}
		if !slices.ContainsFunc(is, func(o *nested) bool { return o.dir == m.dir }) {
			changes = append(changes, change{text: "module " + m.path() + ": removed"})
			continue
		}
		before, err := loadAPI(from, m)
		if err != nil {
			return nil, err
		}
		after, err := loadAPI(to, m)
		if err != nil {
			return nil, err
		}
		for _, c := range apidiff.ModuleChanges(before, after).Changes {
			changes = append(changes, change{text: m.path() + ": " + c.Message, compatible: c.Compatible})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.text, b.text) })
	return changes, nil
}

// loadAPI returns the types of the packages of a module that users can import. It takes the libraries in the versions of go.work, if there
// is one: the tests of the tree have compiled them.
func loadAPI(r repository, of *nested) (*apidiff.Module, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,Module", "./...")
	cmd.Dir = filepath.Join(r.dir, of.dir)
	work := filepath.Join(r.dir, "go.work")
	if _, err := os.Stat(work); err != nil {
		work = "off"
	}
	cmd.Env = append(os.Environ(), "GOWORK="+work)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w: %s", cmd.Dir, err, &stderr)
	}
	files, public := map[string]string{}, []string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Name, Export string
			Module                   struct{ Path string }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		files[p.ImportPath] = p.Export
		if p.Module.Path == of.path() && p.Name != "main" && !slices.Contains(strings.Split(p.ImportPath, "/"), "internal") {
			public = append(public, p.ImportPath)
		}
	}
	types := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	m := &apidiff.Module{Path: of.path()}
	for _, path := range public {
		p, err := types.Import(path)
		if err != nil {
			return nil, err
		}
		m.Packages = append(m.Packages, p)
	}
	return m, nil
}
