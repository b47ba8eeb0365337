// Package virtualtime runs programs in a testing/synctest bubble, where time
// passes as soon as everybody waits for it.
package virtualtime

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
)

// Exit runs f in a bubble and exits: with status 1 if f returned an error, which
// is written to the standard error after the name of the program.
//
// Only a test can make a bubble, so f becomes the one test of this program.
// testing.Main is what Go keeps for programs that simulate go test. It writes
// PASS or FAIL to os.Stdout, which f must not use for that reason.
func Exit(program string, f func(context.Context) error) {
	var err error
	if os.Stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		Fail(program, err)
	}
	only := testing.InternalTest{Name: "VirtualTime", F: func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if err := f(t.Context()); err != nil {
				complain(program, err)
				t.Fail()
			}
		})
	}}
	matchAll := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(matchAll, []testing.InternalTest{only}, nil, nil)
}

// Fail writes an error to the standard error and exits with status 1.
func Fail(program string, err error) {
	complain(program, err)
	os.Exit(1)
}

func complain(program string, err error) { fmt.Fprintf(os.Stderr, "%s: %v\n", program, err) }
