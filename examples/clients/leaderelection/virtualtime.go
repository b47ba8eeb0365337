package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
)

// exitAfterVirtualTime runs f in a bubble, where time passes as soon as
// everybody waits for it, and exits: with status 1 if f returned an error,
// which is written to the standard error.
//
// Only a test can make a bubble, so f becomes the one test of this program.
// testing.Main is what Go keeps for programs that simulate go test. It writes
// PASS or FAIL to os.Stdout, which f must not use for that reason.
func exitAfterVirtualTime(f func(context.Context) error) {
	var err error
	if os.Stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		exit(err)
	}
	only := testing.InternalTest{Name: "VirtualTime", F: func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if err := f(t.Context()); err != nil {
				complain(err)
				t.Fail()
			}
		})
	}}
	matchAll := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(matchAll, []testing.InternalTest{only}, nil, nil)
}

func exit(err error) {
	complain(err)
	os.Exit(1)
}

func complain(err error) { fmt.Fprintln(os.Stderr, "leaderelection:", err) }
