package apitest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Open returns an API without a test, for a program that others test against. It
// lasts until Close. Where its methods would fail a test they panic; Inject and
// InjectAdversary return errors.
func Open(opts Options) (*API, error) {
	if opts.Verify {
		return nil, errors.New("apitest.Open: Options.Verify: got true, want false: there is no test to fail")
	}
	a, err := open(&noTest{}, opts)
	if err != nil {
		return nil, fmt.Errorf("apitest.Open: %w", err)
	}
	return a, nil
}

// noTest stands where there is no test. Its end is API.Close.
type noTest struct {
	testing.TB // nil: what is not below is not called

	mu      sync.Mutex // guards the two
	ended   bool
	folders []string
}

// Helper does nothing.
func (*noTest) Helper() {}

// Name says who is meant.
func (*noTest) Name() string { return "the API that Open returned" }

// Cleanup forgets what to do at the end: nothing is to be said there.
func (*noTest) Cleanup(func()) {}

// Fatalf panics.
func (*noTest) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// TempDir makes a folder that goes with the API.
func (n *noTest) TempDir() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		n.Fatalf("apitest: %s has ended: got a call for a folder, want it before the end", n.Name())
	}
	dir, err := os.MkdirTemp("", "apitest")
	if err != nil {
		n.Fatalf("apitest: %v", err)
	}
	n.folders = append(n.folders, dir)
	return dir
}

func (n *noTest) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = true
	for _, dir := range n.folders {
		os.RemoveAll(dir)
	}
}
