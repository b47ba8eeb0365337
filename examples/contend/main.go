// Command contend leads by a Lease: it waits for the Lease, renews it, and releases it at
// SIGINT or SIGTERM. With a command it is a lock for any program: the command runs while
// contend leads.
//
//	contend -name backup -- /usr/local/bin/backup --full
//	contend -server https://10.0.0.1:8001,https://10.0.0.2:8001 -certificate-authority ca.pem -token-file token -name backup -- backup
//
// A term ends when no server could be reached in time, or somebody else has the Lease. The
// command then gets SIGTERM, and SIGKILL after -grace. contend waits for the Lease again, and
// starts the command again; with -once it exits with code 75. When the command ends by
// itself, contend releases the Lease and exits with the code of the command, which is 128 and
// the number of the signal if one ended it. At SIGINT and SIGTERM it ends the command, releases
// the Lease, and exits with the code of the command, or with 75 if the command did not run. A
// wrong flag is 2, another error 1.
//
// The environment of the command has
//
//	KUBECOORD_FENCING_TOKEN  the number of the term: greater than the number of any term before
//	KUBECOORD_HOLDER         the holderIdentity in the Lease
//	KUBECOORD_LEASE          namespace/name of the Lease
//
// A Lease does not stop a machine that is paused. If two runs at once would do harm, send the
// fencing token with each write and let the receiver refuse a smaller one than it has seen:
// see package lease.
//
// What to copy from here: contend.go for a Go program that leads, child.go for one that
// runs another program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes besides the codes of the command.
const (
	exitFailed     = 1
	exitUsage      = 2
	exitUnfinished = 75 // EX_TEMPFAIL of sysexits.h: the command did not run, or a term ended before it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(errs, "contend:", err)
		return exitUsage
	}
	o.log = slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelInfo}))
	code, err := o.contend(ctx, out, errs)
	if err != nil {
		fmt.Fprintln(errs, "contend:", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return code
}
