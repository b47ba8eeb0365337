package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// pack writes the zip file of a module, as the go command makes it of a commit.
func pack(r repository, commit string, m *nested, version, to string) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := zip.CreateFromVCS(f, module.Version{Path: m.path(), Version: version}, r.dir, commit, m.dir); err != nil {
		return err
	}
	return f.Close()
}

// sums returns the two lines about a module that go.sum of another one has.
func sums(r repository, commit string, m *nested, version string) ([]string, error) {
	tmp, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "module.zip")
	if err := pack(r, commit, m, version, file); err != nil {
		return nil, err
	}
	all, err := dirhash.HashZip(file, dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	goMod, err := r.git("show", commit+":"+m.goMod())
	if err != nil {
		return nil, err
	}
	one, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(goMod + "\n")), nil
	})
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s %s %s", m.path(), version, all),
		fmt.Sprintf("%s %s/go.mod %s", m.path(), version, one),
	}, nil
}

// addSums returns a go.sum with more lines, in the order of the go command.
func addSums(goSum []byte, more []string) []byte {
	lines := slices.Concat(strings.Split(string(bytes.TrimSpace(goSum)), "\n"), more)
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	byModule := map[module.Version][]string{}
	var mods []module.Version
	for _, line := range lines {
		fields := strings.Fields(line)
		v := module.Version{Path: fields[0], Version: fields[1]}
		if byModule[v] == nil {
			mods = append(mods, v)
		}
		byModule[v] = append(byModule[v], line)
	}
	module.Sort(mods)
	var b bytes.Buffer
	for _, v := range mods {
		for _, line := range byModule[v] {
			fmt.Fprintln(&b, line)
		}
	}
	return b.Bytes()
}
