package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// loadState loads a file or a directory, if path is not empty. It must come before the
// election starts: a candidate.Elector trusts the times of the objects it finds at its
// start, and treats later ones as new.
func loadState(st *store.Store, path string) error {
	if path == "" {
		return nil
	}
	if err := fixture.Load(context.Background(), st, fixture.Options{Kinds: httpapi.Kinds()}, fixture.Dir(path)); err != nil {
		return fmt.Errorf("-load: %w", err)
	}
	return nil
}

// stateFile is the file of -dump.
type stateFile struct {
	name, temporary string // the latter in the same directory, hidden from -load
	form            fixture.DumpOptions
}

// newStateFile checks at the start that the file can be written. It returns nil if name
// is empty.
func newStateFile(name string) (*stateFile, error) {
	if name == "" {
		return nil, nil
	}
	dir, base := filepath.Split(name)
	f := &stateFile{
		name: name, temporary: filepath.Join(dir, fmt.Sprintf(".%s.%d", base, os.Getpid())),
		form: fixture.DumpOptions{Kinds: httpapi.Kinds()},
	}
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
	case ".json":
		f.form.JSON = true
	case ".txtar":
		f.form.Form = fixture.FormTxtar
	default:
		return nil, fmt.Errorf("-dump %s: want a name that ends in .yaml, .yml, .json or .txtar", name)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("-dump %s: not a regular file", name)
	}
	out, err := os.OpenFile(f.temporary, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fmt.Errorf("-dump: %w", err)
	}
	return f, errors.Join(out.Close(), os.Remove(f.temporary))
}

// dump replaces the file in one step: readers see the old state or the new one.
func (f *stateFile) dump(st *store.Store) error {
	if f == nil {
		return nil
	}
	if err := f.write(st); err != nil {
		os.Remove(f.temporary)
		return fmt.Errorf("-dump: %w", err)
	}
	return nil
}

func (f *stateFile) write(st *store.Store) error {
	out, err := os.OpenFile(f.temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	err = fixture.Dump(out, st, f.form)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(f.temporary, f.name)
}
