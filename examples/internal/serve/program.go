package serve

import (
	"context"
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
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s: unexpected arguments: %v\n", name, flag.Args())
		os.Exit(2)
	}
	ballast := make([]byte, heapFloor)
	defer runtime.KeepAlive(ballast)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
