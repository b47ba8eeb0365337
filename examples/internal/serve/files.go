package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ReplaceFile replaces a file in one step: readers see the old contents or the new ones,
// and so does the next start after a crash. Only the owner can read the file.
func ReplaceFile(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", name)
	}
	out, err := CreateBeside(name)
	if err != nil {
		return err
	}
	err = write(out)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), name)
	}
	if err != nil {
		os.Remove(out.Name())
		return err
	}
	return syncDir(filepath.Dir(name))
}

// CreateBeside creates a temporary file in the directory of another, hidden from -load. Only
// the owner can read it.
func CreateBeside(name string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".")
}

// syncDir makes a rename in a directory survive a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
