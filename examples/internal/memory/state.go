package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/examples/internal/serve"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

// loadState loads the sources, and the file or the directory of -load, if it is set. It must come before the
// election starts: a candidate.Coordinator trusts the times of the objects it finds at its
// start, and treats later ones as new. Objects keep their versions. The store goes on at
// version first, or at a greater one that it has loaded.
func loadState(st *store.Store, kinds []kind.Kind, c config, first uint64, more ...fixture.Source) error {
	opts := fixture.Options{Kinds: kinds, Progress: c.progress.show}
	path := c.load
	if path == "" {
		return fixture.Load(context.Background(), st, opts, more...)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("-load: %w", err)
	}
	source := fixture.FS(os.DirFS(path))
	if !info.IsDir() {
		dir, name := filepath.Split(path)
		pattern := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
		source = fixture.FS(os.DirFS(cmp.Or(dir, ".")), pattern)
	}
	if c.known {
		source = fixture.SkipUnknown(source)
	}
	err = fixture.Load(context.Background(), st, opts, append(more, source)...)
	if len(more) > 0 && errors.Is(err, store.ErrAlreadyExists) { // a dump has what an earlier start has loaded
		err = fixture.Load(context.Background(), st, opts, source)
	}
	if err != nil {
		return fmt.Errorf("-load %s: %w", path, err)
	}
	if first == 0 {
		return nil
	}
	if err := st.Advance(first); err != nil {
		return fmt.Errorf("-load: %w", err)
	}
	st.ExpireHistory() // what happened after the dump is not known
	return nil
}

// defaultFirstVersion is where package store begins.
const defaultFirstVersion = 1000

// firstVersion returns a version above all that a server before this one has given, if that
// one made at most 10,000 changes a second since its start: the time in tenths of a
// millisecond. It counts from 2026, so that versions stay far below the version of the future
// in recorded requests, 900000000000. It returns 0, for the version that package store
// chooses, to a server with -debug, whose tests repeat themselves. If the clock is before 2026
// it warns, and returns that version too.
func firstVersion(c config, now time.Time) uint64 {
	if c.debug {
		return 0
	}
	first := now.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) / (100 * time.Microsecond)
	if first < defaultFirstVersion {
		log.Printf("the clock shows %s, before 2026: resourceVersions begin at %d, and may repeat the versions of an earlier server", now.UTC().Format(time.RFC3339), defaultFirstVersion)
		return defaultFirstVersion
	}
	return uint64(first)
}

// stateFile is the file of -dump.
type stateFile struct {
	name string
	form fixture.DumpOptions
}

// newStateFile checks at the start that the file can be written. It returns nil if name
// is empty.
func newStateFile(name string) (*stateFile, error) {
	if name == "" {
		return nil, nil
	}
	f := &stateFile{name: name}
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
	out, err := serve.CreateBeside(name)
	if err != nil {
		return nil, fmt.Errorf("-dump: %w", err)
	}
	return f, errors.Join(out.Close(), os.Remove(out.Name()))
}

// dump replaces the file.
func (f *stateFile) dump(s served) error {
	if f == nil {
		return nil
	}
	err := serve.ReplaceFile(f.name, func(w io.Writer) error { return s.api().Dump(w, f.form) })
	if err != nil {
		return fmt.Errorf("-dump: %w", err)
	}
	return nil
}

// dumpOften dumps at each signal and, if every is not 0, so often, until the context ends. A
// dump that fails is logged, since a later one may succeed.
func (f *stateFile) dumpOften(ctx context.Context, signals <-chan os.Signal, every time.Duration, s served) {
	var ticks <-chan time.Time
	if every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-signals:
		case <-ticks:
		case <-ctx.Done():
			return
		}
		if err := f.dump(s); err != nil {
			log.Print(err)
		}
	}
}
