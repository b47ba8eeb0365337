package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// heapFloor counts as a part of the heap that is in use, but no page of it is ever written, so
// it takes no memory. It makes the garbage collections of a small and busy server rarer: the
// heap grows by its size in between, instead of by a few megabytes.
const heapFloor = 32 << 20

// Main reads the command line, calls run with a context that ends at SIGINT or SIGTERM, and
// exits if run fails.
func Main(name string, run func(ctx context.Context, out io.Writer) error) {
	parseFlags(name)
	ballast := make([]byte, heapFloor)
	defer runtime.KeepAlive(ballast)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// parseFlags reads the command line. A wrong flag is one line on standard error; -h lists the
// flags.
func parseFlags(name string) {
	f := flag.CommandLine
	f.Init(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	err := f.Parse(os.Args[1:])
	f.SetOutput(nil)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(os.Stdout)
		fmt.Printf("Usage of %s:\n", name)
		f.PrintDefaults()
		os.Exit(0)
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected arguments: %v", f.Args())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v; -h lists the flags\n", name, err)
		os.Exit(2)
	}
}
